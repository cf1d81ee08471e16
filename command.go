package rota

import "time"

// RulesVersion is the version of the rules that this program implements. A store
// refuses a command with a later version, because it does not know those rules.
const RulesVersion = 1

// Batch is sent as one unit: one group commit, one Raft entry, one request. Its
// commands are applied in order. A refused command does not affect the others.
type Batch struct {
	// Now is the only clock a command sees. The store's authority sets it. If it
	// is zero, the store sets it from its own clock.
	Now      time.Time
	Commands []Command
}

// Command is one atomic change of state, with all its effects. The set is
// closed: every implementation is in this package.
type Command interface {
	// Head returns the part that all commands share.
	Head() *Meta
	// Verb returns the kind of the command. Every layer uses the same word.
	Verb() Verb
	// Validate checks what can be checked without a store. The error names the
	// field.
	Validate() error
	// weigh returns the number of entries and the approximate size in bytes.
	weigh() (entries, bytes int)
}

// Verb is the kind of a command.
type Verb string

// The verbs.
const (
	VerbEnqueue   Verb = "enqueue"
	VerbReady     Verb = "ready"
	VerbClaim     Verb = "claim"
	VerbExtend    Verb = "extend"
	VerbNote      Verb = "note"
	VerbFinish    Verb = "finish"
	VerbCancel    Verb = "cancel"
	VerbEdit      Verb = "edit"
	VerbMove      Verb = "move"
	VerbNormalise Verb = "normalise"
	VerbReap      Verb = "reap"
	VerbRecover   Verb = "recover"
	VerbAll       Verb = "all"

	VerbPutType        Verb = "put_type"
	VerbSwitchType     Verb = "switch_type"
	VerbPutTemplate    Verb = "put_template"
	VerbArchive        Verb = "archive"
	VerbUnarchive      Verb = "unarchive"
	VerbPutThrottle    Verb = "put_throttle"
	VerbPutWebhooks    Verb = "put_webhooks"
	VerbPutSchedule    Verb = "put_schedule"
	VerbSwitchSchedule Verb = "switch_schedule"
	VerbDeleteSchedule Verb = "delete_schedule"
	VerbDrop           Verb = "drop"
	VerbFire           Verb = "fire"
	VerbTrigger        Verb = "trigger"
	VerbBackfill       Verb = "backfill"
	VerbEnqueueGroup   Verb = "enqueue_group"
	VerbCancelGroup    Verb = "cancel_group"
	VerbReserve        Verb = "reserve"
	VerbDirect         Verb = "direct"
	VerbRelease        Verb = "release"
	VerbExpire         Verb = "expire"
	VerbSweep          Verb = "sweep"
	VerbPrune          Verb = "prune"
	VerbRedrive        Verb = "redrive"
	VerbRemember       Verb = "remember"
)

// Meta is the head of every command. The ids of the rows that a command creates are
// derived from its id, so a command can be sent again.
type Meta struct {
	ID           ID     `wire:"1"`
	Actor        string `wire:"2"` // user or program on whose behalf the command is sent; empty: the process itself
	RulesVersion int    `wire:"3"` // rules the command was written for; 0 means 1
}

// NewMeta returns a head with a new id.
func NewMeta(actor string) Meta {
	return Meta{ID: NewID(), Actor: actor, RulesVersion: RulesVersion}
}

// Head returns the head.
func (m *Meta) Head() *Meta { return m }

// LeaseRef identifies a lease by job and run, and proves it by the token.
type LeaseRef struct {
	JobID ID    `wire:"1"`
	RunID ID    `wire:"2"`
	Token Token `wire:"3"`
}
