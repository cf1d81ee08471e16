package rota

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Outcome is the result of a run. It is written once.
type Outcome string

// The outcomes; an open run has none.
const (
	OutcomeCompleted Outcome = "COMPLETED"
	OutcomeFailed    Outcome = "FAILED"
	OutcomeSkipped   Outcome = "SKIPPED"
	OutcomeCancelled Outcome = "CANCELLED" // cancelled by a user, or timed out: see Run.ShownOutcome
)

// Error codes that Rota defines. Workers send CodeTimeout, CodeShutdown and CodeUncommitted. The store
// writes CodeLeaseExpired, which workers must not send, CodeCancelled if a worker sent
// no code, and the last three for skipped runs.
const (
	CodeTimeout      = "timeout"       // exceeded its timeout: the runner finishes it as CANCELLED; shown and retried as a failure
	CodeLeaseExpired = "lease_expired" // its worker sent no heartbeat
	CodeShutdown     = "shutdown"      // stopped at the end of the shutdown grace; retried at once
	CodeCancelled    = "cancelled"     // cancelled by a user
	CodeUncommitted  = "uncommitted"   // its handler did not commit the transaction that completes the run

	CodeOverlap    = "overlap"    // skipped: the previous execution had not ended
	CodeDependency = "dependency" // skipped: a dependency did not complete in time
	CodeGroup      = "group"      // skipped: another member of its group died
)

// Token proves a lease. Each claim creates a new one and returns it to the worker only.
type Token [16]byte

// NewToken returns a random token, such as the seed of a Claim.
func NewToken() (t Token) {
	_, _ = rand.Read(t[:]) // never fails: see crypto/rand
	return t
}

// ParseToken parses the output of Reveal.
func ParseToken(text string) (t Token, err error) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != len(t) {
		return Token{}, Invalidf("lease_token", "is not a token; a token is %d hexadecimal digits", 2*len(t))
	}
	return Token(raw), nil
}

// IsZero reports whether the token is zero.
func (t Token) IsZero() bool { return t == Token{} }

// Reveal returns the token as text, for its holder.
func (t Token) Reveal() string { return hex.EncodeToString(t[:]) }

// Format hides the token in logs, for every format verb.
func (t Token) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, tokenShown) }

// MarshalText hides the token in JSON. Use Reveal to send it.
func (t Token) MarshalText() ([]byte, error) { return []byte(tokenShown), nil }

const tokenShown = "[token]"

// Run is the lease and the outcome of one job. A job has at most one run.
type Run struct {
	ID          ID        `wire:"1"`
	Runner      string    `wire:"2"` // worker that holds the lease
	Incarnation ID        `wire:"3"` // of the worker; zero: unknown
	Token       Token     `wire:"4"`
	StartedAt   time.Time `wire:"5"`

	HeartbeatAt time.Time       `wire:"6"`
	StaleAfter  time.Time       `wire:"7"`
	Progress    json.RawMessage `wire:"8"`

	CancelAt     time.Time `wire:"9"` // when it was asked to stop; zero: never
	CancelBy     string    `wire:"10"`
	CancelReason string    `wire:"11"`

	Outcome      Outcome         `wire:"12"`
	FinishedAt   time.Time       `wire:"13"`
	ExitCode     *int            `wire:"14"`
	Error        string          `wire:"15"`
	ErrorCode    string          `wire:"16"`
	RowsAffected *int64          `wire:"17"`
	Result       json.RawMessage `wire:"18"`
	Artifacts    []string        `wire:"19"`
	LogPath      string          `wire:"20"`
}

// Open reports whether the run has no outcome yet.
func (r *Run) Open() bool { return r.Outcome == "" }

// TimedOut reports whether the run exceeded its timeout. A run that was asked to stop was
// cancelled, whatever its worker reports.
func (r *Run) TimedOut() bool {
	return r.Outcome == OutcomeCancelled && r.ErrorCode == CodeTimeout && r.CancelAt.IsZero()
}

// ShownOutcome returns the outcome for people. It differs from the stored one only if the
// run timed out: that is stored as CANCELLED, but it is a failure. A run that timed out and
// was asked to stop afterwards is stored as FAILED. Everything that shows,
// counts, reports or retries a run uses this outcome.
func (r *Run) ShownOutcome() Outcome {
	if r.TimedOut() {
		return OutcomeFailed
	}
	return r.Outcome
}
