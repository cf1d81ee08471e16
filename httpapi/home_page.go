package httpapi

import (
	"bytes"
	"maps"
	"net/http"
	"slices"
)

// frontPage is the content of the page at /.
type frontPage struct {
	Version   string
	Addresses []docsField
	Metrics   bool
}

// homePage serves the page at /. It needs no token and shows none.
func (a *server) homePage(w http.ResponseWriter, _ *http.Request) {
	view := frontPage{Version: a.Version, Metrics: a.Metrics != nil}
	if a.Addresses != nil {
		addresses := a.Addresses()
		for _, name := range slices.Sorted(maps.Keys(addresses)) {
			view.Addresses = append(view.Addresses, docsField{Name: name, About: addresses[name]})
		}
	}
	var out bytes.Buffer
	if err := pageTemplate.Execute(&out, view); err != nil {
		writeProblem(w, problemOf(err))
		return
	}
	writePage(w, out.Bytes())
}
