package access

import (
	"maps"
	"slices"

	"github.com/rotajobs/rota"
)

// Need is a row of the tables of needs, for the tests of the interfaces.
type Need struct {
	Privilege rota.Privilege
	Scopes    []rota.TokenScope
	Internal  bool // only Rota itself does it
	Worker    bool // for a worker token, or ADMIN
	Self      bool // about the caller itself, or about nothing
}

func exported(n need) Need {
	return Need{n.privilege, n.scopes(), n.class == needInternal, n.class == needWorker, n.class == needSelf}
}

// NeedOfVerb and NeedOfRead return the row of a command and of a method of a store.
func NeedOfVerb(v rota.Verb) Need   { return exported(verbNeeds[v]) }
func NeedOfRead(method string) Need { return exported(readNeeds[method]) }

// NeedOfRequire is what Guard.Require checks.
func NeedOfRequire(o Operation, p rota.Privilege) Need { return exported(need{p, o.need().class}) }

// VerbsWithNeed and ReadsWithNeed list the rows.
func VerbsWithNeed() []rota.Verb { return slices.Sorted(maps.Keys(verbNeeds)) }
func ReadsWithNeed() []string    { return slices.Sorted(maps.Keys(readNeeds)) }

// RecentFor is how long a Guard relies on a definition that it has read.
const RecentFor = recentFor
