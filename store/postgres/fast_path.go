package postgres

import (
	"slices"
	"strings"
)

// FastPath is a set of optimisations. Each of them makes some transactions cheaper and changes no
// result. Config.Disable switches them off, to find out whether one of them causes a fault and to
// measure what each brings. The comment at the top of a fast path's file says what it assumes, what
// checks the assumption, and what happens if it is wrong.
type FastPath uint16

// The fast paths.
const (
	IdlePath          FastPath = 1 << iota // decide an enqueue on an idle store without a read
	UnsentClaim                            // claim the jobs of enqueues in the same batch before they are sent
	RowCache                               // keep types, limits and the reservation between transactions
	DispatchedCache                        // keep dispatched jobs until they are finished
	WebhookCache                           // keep the webhooks in force between transactions
	SingleType                             // claim from one type queue without a merge
	UnreadNewJobs                          // insert new jobs without a search for them
	Copy                                   // insert many jobs with COPY
	UsedColumns                            // leave out columns that no new job uses
	JoinedLimitsCheck                      // check limits, reservation and types in one statement
	JoinedNotify                           // send NOTIFY in the round trip of the COMMIT
	CallerEnqueue                          // enqueue a simple job in a transaction of the caller with one statement
	CallerFinish                           // complete a simple run in a transaction of the caller with one statement
)

// EveryFastPath is the set of all fast paths.
const EveryFastPath = CallerFinish<<1 - 1

var fastPathNames = []string{
	"idle-path", "unsent-claim", "row-cache", "dispatched-cache", "webhook-cache", "single-type",
	"unread-new-jobs", "copy", "used-columns", "joined-limits-check", "joined-notify", "caller-enqueue", "caller-finish",
}

// FastPaths returns the fast paths one by one.
func FastPaths() (all []FastPath) {
	for i := range fastPathNames {
		all = append(all, 1<<i)
	}
	return all
}

// String returns the names of the fast paths in the set.
func (p FastPath) String() string {
	var names []string
	for i, one := range FastPaths() {
		if p&one != 0 {
			names = append(names, fastPathNames[i])
		}
	}
	return strings.Join(names, ",")
}

// ParseFastPath returns the set that String names.
func ParseFastPath(names string) (p FastPath, known bool) {
	for name := range strings.SplitSeq(names, ",") {
		i := slices.Index(fastPathNames, name)
		if i < 0 && name != "" {
			return 0, false
		}
		if name != "" {
			p |= 1 << i
		}
	}
	return p, true
}

// uses reports whether a fast path is switched on.
func (s *Store) uses(p FastPath) bool { return s.config.Disable&p == 0 }
