package main

import (
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// authToken is the token to show, and where it is from, or was looked for last. The one in the data directory is for the
// server of that directory: it is shown to nobody on another machine, where the source is empty.
func (a *app) authToken() (token, source string) {
	switch {
	case a.server.token != "":
		return a.server.token, "--token"
	case a.getenv("ROTA_TOKEN") != "":
		return strings.TrimSpace(a.getenv("ROTA_TOKEN")), "ROTA_TOKEN"
	case !a.isLocal():
		return "", ""
	}
	path := a.tokenFile()
	text, _ := os.ReadFile(path) // without one the server says what is missing
	return strings.TrimSpace(string(text)), path
}

func (a *app) tokenFile() string { return filepath.Join(a.dataDir(), "admin.token") }

// isLocal reports whether the server is on this machine: its address was found in the data directory, or is the same, or
// leads nowhere else.
func (a *app) isLocal() bool {
	if firstNonEmpty(a.server.url, a.getenv("ROTA_URL")) == "" {
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
	if strings.EqualFold(u.Hostname(), "localhost") || u.Host == dialableHost(readAddressFile(a.dataDir())) {
		return true
	}
	ip := net.ParseIP(u.Hostname())
	return ip != nil && ip.IsLoopback()
}

// tokenHint says which token was shown, which is what a person who is denied wants to know.
func (a *app) tokenHint() string {
	switch token, source := a.authToken(); {
	case source == "":
		return "give the token of that server with --token or ROTA_TOKEN; the one in " + a.tokenFile() + " is not shown to other machines"
	case token == "":
		return "there is no token in " + source + "; give one with --token or ROTA_TOKEN, or name the server's data directory with --data"
	default:
		return "the token shown was that of " + source + "; the server's stands in the file admin.token of its data directory"
	}
}
