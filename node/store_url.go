package node

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

const sqliteScheme = "sqlite"

var (
	postgresSchemes = []string{"postgres", "postgresql"}

	// laterSchemes are reserved for stores of later releases.
	laterSchemes = []string{"dynamodb", "raft"}
)

// checkStore checks the URL of a store. Errors never quote the part after the scheme,
// because it may contain a password.
func checkStore(url string) error {
	scheme, rest, found := strings.Cut(url, ":")
	switch {
	case url == "":
		return errors.New("the URL is empty")
	case !found:
		return errors.New("the URL has no scheme")
	case slices.Contains(postgresSchemes, scheme):
		return checkServer(rest)
	case slices.Contains(laterSchemes, scheme):
		return fmt.Errorf("the scheme %s is not supported yet; it is planned for a later release", scheme)
	case scheme != sqliteScheme:
		return fmt.Errorf("unknown scheme %s", quoted(scheme))
	case rest == "":
		return errors.New("the URL names no file")
	case strings.HasPrefix(rest, "//"):
		return errors.New("sqlite: takes a path with no slashes before it, such as sqlite:rota.db")
	}
	return nil
}

// checkServer checks only that slashes follow postgres:. The PostgreSQL client
// parses the rest.
func checkServer(rest string) error {
	if !strings.HasPrefix(rest, "//") {
		return errors.New("the URL needs two slashes before the host, as in postgres://HOST/DATABASE")
	}
	return nil
}

// onServer reports whether the store is on a database server, which several nodes may share.
func onServer(url string) bool {
	scheme, _, _ := strings.Cut(url, ":")
	return slices.Contains(postgresSchemes, scheme)
}

// storeFile is the path of the node's SQLite file; empty if the store is on a server.
func (n *Node) storeFile() string {
	if onServer(n.config.Store) {
		return ""
	}
	return storePath(n.config.Store)
}

// storePath is the path in the URL of an SQLite store.
func storePath(url string) string { return strings.TrimPrefix(url, sqliteScheme+":") }
