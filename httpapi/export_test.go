package httpapi

import "net/http"

// BoundPages sets a lower byte limit for pages.
func BoundPages(handler http.Handler, bytes int) { handler.(*server).pageBytes = bytes }
