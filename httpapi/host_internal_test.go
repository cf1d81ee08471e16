package httpapi

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/rotajobs/rota/api"
)

func TestForeignHostIsRefused(t *testing.T) {
	handler := CheckHost(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }), []string{"rota.example.org", "192.0.2.7"})
	for host, want := range map[string]int{
		"localhost": 204, "LocalHost:7420": 204, "localhost.:1": 204, "127.0.0.1:7420": 204, "127.8.9.1": 204, "[::1]:7420": 204, "[::1]": 204, "::1": 204, "[::ffff:127.0.0.1]:1": 204,
		"rota.example.org": 204, "Rota.Example.ORG:443": 204, "192.0.2.7:80": 204, "": 204,
		"evil.example": 421, "evil.example:7420": 421, "localhost.evil.example": 421, "notlocalhost": 421, "192.0.2.8": 421, "127.0.0.1.evil.example": 421,
		"0.0.0.0:7420": 421, "[::]:7420": 421, "rota.example.org.evil.example": 421, "[2001:db8::1]:7420": 421, "localhost@evil.example": 421,
	} {
		r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
		r.Host = host
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("Host %q is answered with %d, want %d", host, w.Code, want)
		}
		if want != http.StatusMisdirectedRequest {
			continue
		}
		var p api.Problem
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || p.Code != codeHost || p.Hint == "" || w.Header().Get("Content-Type") != problemType {
			t.Errorf("Host %q: %v %s", host, w.Header(), w.Body)
		}
	}
}
