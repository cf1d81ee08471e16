package main

import (
	"cmp"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// authToken returns the token to send and its source: the flag, the variable or the file. The token of the data
// directory is sent only to a server on this machine; for other servers token and source are empty.
func (a *app) authToken() (token, source string) {
	switch {
	case a.server.token != "":
		return a.server.token, "--token"
	case a.getenv("ROTA_TOKEN") != "":
		return strings.TrimSpace(a.getenv("ROTA_TOKEN")), "ROTA_TOKEN"
	case !a.isLocal():
		return "", ""
	case a.tlsFiles().Cert != "": // the user wants to log in by certificate
		return "", ""
	}
	path := a.tokenFile()
	text, _ := os.ReadFile(path) // without a token the server answers with the error
	return strings.TrimSpace(string(text)), path
}

func (a *app) tokenFile() string { return filepath.Join(a.dataDir(), "admin.token") }

// isLocal reports whether the server is on this machine: its address comes from the data directory, is equal to the one
// there, or is a loopback address.
func (a *app) isLocal() bool {
	if cmp.Or(a.server.url, a.getenv("ROTA_URL")) == "" {
		return true
	}
	address, err := a.address()
	if err != nil {
		return false
	}
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	if strings.EqualFold(u.Hostname(), "localhost") || u.Host == dialableHost(readAddressFile(a.dataDir()).HTTP) {
		return true
	}
	ip := net.ParseIP(u.Hostname())
	return ip != nil && ip.IsLoopback()
}

// tokenHint is the hint for a refused token. It names the token that was sent.
func (a *app) tokenHint() string {
	switch token, source := a.authToken(); {
	case source == "" && a.tlsFiles().Cert != "":
		return "no token was sent, since you named a client certificate; ask an administrator to give your user this certificate, or set a token with --token or ROTA_TOKEN"
	case source == "":
		return "set the token of that server with --token or ROTA_TOKEN; the token in " + a.tokenFile() + " is not sent to other machines"
	case token == "":
		return "there is no token in " + source + "; set one with --token or ROTA_TOKEN, or name the server's data directory with --data"
	default:
		return "the token sent was that of " + source + "; the token of the server is in the file admin.token of its data directory"
	}
}
