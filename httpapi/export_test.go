package httpapi

import "net/http"

// BoundPages makes pages end earlier than they would.
func BoundPages(handler http.Handler, bytes int) { handler.(*api).pageBytes = bytes }
