"""The pages for operators at `/ui` of the admin listener: HTML from here, plain ES modules and CSS in `assets`."""
