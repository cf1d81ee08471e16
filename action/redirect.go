package action

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/rotajobs/rota/internal/scrub"
)

// redirectsMax is how many redirects a request follows.
const redirectsMax = 5

// redirectPolicy decides for an http.Client whether a request follows a redirect. A
// request to another host carries no credentials, no body and no other header meant
// for the first host, even if a later redirect returns to that host.
func redirectPolicy(expect Expect) func(*http.Request, []*http.Request) error {
	return func(next *http.Request, before []*http.Request) error {
		switch {
		case next.Response != nil && expect.Has(next.Response.StatusCode) && len(expect) > 0:
			return http.ErrUseLastResponse // the redirect itself is the expected answer
		case len(before) > redirectsMax:
			return permanentFailure(codeRedirect, "%s: more than %d redirects", before[0].URL.Host, redirectsMax)
		case !isScheme(next.URL.Scheme):
			return permanentFailure(codeRefused, "%s: a redirect to %s:, which is neither http nor https", before[0].URL.Host, quoteShort(next.URL.Scheme))
		case next.URL.User != nil:
			return permanentFailure(codeRefused, "%s: a redirect to an address with a user or password in it", before[0].URL.Host)
		}
		next.Header.Del("Referer") // a URL may contain a secret
		if !leavesOrigin(next, before) {
			return nil
		}
		if next.Body != nil && next.Body != http.NoBody { // 307 and 308 send it again
			return permanentFailure(codeRedirect, "%s: a redirect to another host, %s, which does not receive the body; if it may, send the request to that host",
				before[0].URL.Host, next.URL.Host)
		}
		keepHarmless(next.Header)
		next.Host = "" // a Host header was meant for the first host
		return nil
	}
}

// leavesOrigin reports whether this request or an earlier one goes to another origin than the
// first.
func leavesOrigin(next *http.Request, before []*http.Request) bool {
	home := origin(before[0].URL)
	for _, r := range append(before[1:len(before):len(before)], next) {
		if origin(r.URL) != home {
			return true
		}
	}
	return false
}

// origin is the scheme, host and port of a URL.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")) + ":" + port
}

func keepHarmless(h http.Header) {
	for name := range h {
		if !scrub.Harmless(name) {
			delete(h, name)
		}
	}
}
