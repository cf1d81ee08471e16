package apiclient

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/rotajobs/rota"
)

// received is a request as a server sees it.
type received struct {
	method, uri, body string
	header            http.Header
}

func newServer(t *testing.T, answer http.HandlerFunc) (c *Client, last *received) {
	last = &received{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*last = received{r.Method, r.RequestURI, string(body), r.Header}
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return &Client{HTTP: WithoutRedirects(s.Client()), Address: s.URL, Token: "secret", Header: http.Header{"User-Agent": {"test"}}}, last
}

func TestRequestHasPathHeadersAndUnescapedBody(t *testing.T) {
	c, last := newServer(t, func(http.ResponseWriter, *http.Request) {})
	response, err := c.Send(t.Context(), Request{
		Method: http.MethodPost, Path: "/jobs", Query: url.Values{"a": {"b c"}}, Body: map[string]string{"to": "<a&b>"},
		Key: "k", LastEventID: "7",
	})
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if last.method != http.MethodPost || last.uri != "/api/v1/jobs?a=b+c" || last.body != `{"to":"<a&b>"}`+"\n" {
		t.Errorf("the server received %+v", last)
	}
	for name, want := range map[string]string{
		"Authorization": "Bearer secret", "Accept": "application/json", "Content-Type": "application/json",
		"Idempotency-Key": "k", "Last-Event-ID": "7", "User-Agent": "test",
	} {
		if got := last.header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestRequestWithoutBodyHasNoMediaType(t *testing.T) {
	c, last := newServer(t, func(http.ResponseWriter, *http.Request) {})
	c.Token = ""
	response, err := c.Send(t.Context(), Request{Method: http.MethodGet, Path: "/stats", Accept: "text/plain"})
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	for name, want := range map[string]string{"Authorization": "", "Accept": "text/plain", "Content-Type": "", "Idempotency-Key": ""} {
		if got := last.header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	c, _ := newServer(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) })
	response, err := c.Send(t.Context(), Request{Method: http.MethodGet, Path: "/stats"})
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusFound {
		t.Errorf("the answer is %s", response.Status)
	}
}

func TestBodyThatIsNotJSONIsInvalid(t *testing.T) {
	c, _ := newServer(t, func(http.ResponseWriter, *http.Request) {})
	_, err := c.Send(t.Context(), Request{Method: http.MethodPost, Path: "/jobs", Body: func() {}})
	if rota.CodeOf(err) != rota.Invalid {
		t.Errorf("the error is %v", err)
	}
}

func TestProblemNeedsStatusAndMediaType(t *testing.T) {
	for _, row := range []struct {
		status      int
		media, text string
		want        string // code of the problem; empty: none
	}{
		{404, "application/problem+json", `{"code":"not_found"}`, "not_found"},
		{404, "application/problem+json; charset=utf-8", `{"code":"not_found"}`, "not_found"},
		{200, "application/problem+json", `{"code":"not_found"}`, ""},
		{404, "application/json", `{"code":"not_found"}`, ""},
		{404, "application/problem+json", `{"code":`, ""},
	} {
		p := Problem(&http.Response{StatusCode: row.status, Header: http.Header{"Content-Type": {row.media}}}, []byte(row.text))
		if got := p != nil; got != (row.want != "") || got && p.Code != row.want {
			t.Errorf("%d %s %s is the problem %v", row.status, row.media, row.text, p)
		}
	}
}
