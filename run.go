package rota

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Outcome is how a run ended. It is written once.
type Outcome string

// The outcomes; an open run has none.
const (
	OutcomeCompleted Outcome = "COMPLETED"
	OutcomeFailed    Outcome = "FAILED"
	OutcomeSkipped   Outcome = "SKIPPED"
	OutcomeCancelled Outcome = "CANCELLED" // a person asked, or its time ran out
)

// Error codes with a meaning. Workers send CodeTimeout and CodeShutdown. A store
// writes CodeLeaseExpired, which no worker may send, CodeCancelled where a worker
// gave no code, and the last three for what it skips.
const (
	CodeTimeout      = "timeout"       // ran longer than its policy allows: its runner finishes it CANCELLED; retried like a failure
	CodeLeaseExpired = "lease_expired" // its process stopped beating or died
	CodeShutdown     = "shutdown"      // cut off by the end of a shutdown; retried at once
	CodeCancelled    = "cancelled"     // a person asked it to stop

	CodeOverlap    = "overlap"    // skipped: an earlier execution had not ended
	CodeDependency = "dependency" // skipped: what it depends on did not complete in time
	CodeGroup      = "group"      // skipped: another member of its group died
)

// Token is the proof of a lease. It is new at each claim, and never shown to
// anybody but the claimer.
type Token [16]byte

// NewToken makes a token from randomness, such as the seed of a Claim.
func NewToken() (t Token) {
	_, _ = rand.Read(t[:]) // never fails: see crypto/rand
	return t
}

// ParseToken reads what Reveal writes.
func ParseToken(text string) (t Token, err error) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != len(t) {
		return Token{}, Invalidf("lease_token", "is not a token; a token is %d hexadecimal digits", 2*len(t))
	}
	return Token(raw), nil
}

// IsZero reports whether there is no token.
func (t Token) IsZero() bool { return t == Token{} }

// Reveal writes the token for its holder.
func (t Token) Reveal() string { return hex.EncodeToString(t[:]) }

// Format keeps a token out of logs, whatever the verb.
func (t Token) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, tokenShown) }

// MarshalText keeps a token out of JSON, where only Reveal may put it.
func (t Token) MarshalText() ([]byte, error) { return []byte(tokenShown), nil }

const tokenShown = "[token]"

// Run is the lease and the outcome of one job. A job has at most one.
type Run struct {
	ID          ID
	Runner      string // who holds the lease
	Incarnation ID     // which life of that process; zero for workers that name none
	Token       Token
	StartedAt   time.Time

	HeartbeatAt time.Time
	StaleAfter  time.Time
	Progress    json.RawMessage

	CancelAt     time.Time // when it was asked to stop; zero if it was not
	CancelBy     string
	CancelReason string

	Outcome      Outcome
	FinishedAt   time.Time
	ExitCode     *int
	Error        string
	ErrorCode    string
	RowsAffected *int64
	Result       json.RawMessage
	Artifacts    []string
	LogPath      string
}

// Open reports whether the run has no outcome yet.
func (r *Run) Open() bool { return r.Outcome == "" }
