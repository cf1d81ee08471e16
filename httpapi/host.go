package httpapi

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/rotajobs/rota/api"
)

// codeHost is the code of a request for a host name that this server does not have.
const codeHost = "misdirected"

// CheckHost refuses requests whose Host header names another server, with 421. It is for listeners on a loopback address:
// there a web page of a foreign name can reach the server after its name was changed to 127.0.0.1 (DNS rebinding), and
// the browser then treats the server as a part of that page. Loopback addresses, localhost and the given names pass, on
// any port. A request without a host passes too, since no browser sends one.
func CheckHost(next http.Handler, names []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host == "" || knownHost(hostName(r.Host), names) {
			next.ServeHTTP(w, r)
			return
		}
		writeProblem(w, &api.Problem{
			Title: "Misdirected request", Status: http.StatusMisdirectedRequest, Code: codeHost,
			Detail: "the Host header names a host that is not this server",
			Hint:   "use the address 127.0.0.1 or localhost, or add the name to http_hosts in the configuration",
		})
	})
}

// hostName is the host without its port, brackets and the dot at its end.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.TrimSuffix(host, ".")
}

func knownHost(name string, names []string) bool {
	if ip, err := netip.ParseAddr(name); err == nil && ip.Unmap().IsLoopback() {
		return true
	}
	return strings.EqualFold(name, "localhost") || slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}
