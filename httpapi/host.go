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

// CheckHost refuses requests whose Host header names another server, with 421. Otherwise a web page of a foreign name can
// reach the server after its name was changed to the address of the server (DNS rebinding), and the browser then treats the
// server as a part of that page. Loopback addresses, localhost, the address that the client connected to and the given names
// pass, on any port. A request without a host passes too, since no browser sends one.
func CheckHost(next http.Handler, names []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name := hostName(r.Host); r.Host == "" || knownHost(name, names) || isLocal(name, r) {
			next.ServeHTTP(w, r)
			return
		}
		writeProblem(w, &api.Problem{
			Title: "Misdirected request", Status: http.StatusMisdirectedRequest, Code: codeHost,
			Detail: "the Host header names a host that is not this server",
			Hint:   "use the IP address of the server or localhost, or add the name to http_hosts in the configuration",
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

// isLocal reports whether a host is the address of this server that the client connected to.
func isLocal(host string, r *http.Request) bool {
	local, is := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !is {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap() == local.AddrPort().Addr().Unmap()
}

func knownHost(name string, names []string) bool {
	if ip, err := netip.ParseAddr(name); err == nil && ip.Unmap().IsLoopback() {
		return true
	}
	return strings.EqualFold(name, "localhost") || slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}
