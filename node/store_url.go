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

	// laterSchemes are stores that come with a later release.
	laterSchemes = []string{"dynamodb", "raft"}
)

// storeKind is the URL of a store. What stands behind its scheme is never
// repeated to anybody: it may hold a password.
type storeKind struct{ to *string }

func (k storeKind) Set(text string) error { *k.to = text; return k.check() }
func (k storeKind) String() string        { return *k.to }
func (k storeKind) noun() string          { return "URL" }

func (k storeKind) check() error {
	scheme, rest, found := strings.Cut(*k.to, ":")
	switch {
	case *k.to == "":
		return errors.New("it is empty")
	case !found:
		return errors.New("it has no scheme")
	case slices.Contains(postgresSchemes, scheme):
		return checkServer(rest)
	case slices.Contains(laterSchemes, scheme):
		return fmt.Errorf("stores of %s: come with a later release", scheme)
	case scheme != sqliteScheme:
		return fmt.Errorf("there is no store with the scheme %s", quoted(scheme))
	case rest == "":
		return errors.New("it names no file")
	case strings.HasPrefix(rest, "//"):
		return errors.New("a file has no slashes in front of its path")
	}
	return nil
}

// checkServer looks at what stands behind postgres:, of which PostgreSQL's own
// rules decide the rest.
func checkServer(rest string) error {
	if !strings.HasPrefix(rest, "//") {
		return errors.New("a server has two slashes in front of its name")
	}
	return nil
}

// onServer says that a store is in a database that several nodes may share.
func onServer(url string) bool {
	scheme, _, _ := strings.Cut(url, ":")
	return slices.Contains(postgresSchemes, scheme)
}

// storeFile is the file of the node's store, empty if it is on a server.
func (n *Node) storeFile() string {
	if onServer(n.config.Store) {
		return ""
	}
	return storePath(n.config.Store)
}

// storePath is the file of a store.
func storePath(url string) string { return strings.TrimPrefix(url, sqliteScheme+":") }
