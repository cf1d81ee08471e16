package rota

import "time"

// RulesVersion is the version of the rules this program speaks. A store refuses a
// command of a later law, since it could not keep it.
const RulesVersion = 1

// Batch is what is sent together: one group commit, one Raft entry, one
// request. It is ordered; a refused command leaves its neighbours alone.
type Batch struct {
	// Now is the only clock a command sees. It is stamped by the store's
	// authority; left zero, the store that holds the file stamps it.
	Now      time.Time
	Commands []Command
}

// Command is one atomic change of state, with all its effects. The set is
// closed: every implementation stands in this package.
type Command interface {
	// Head returns the part that all commands share.
	Head() *Meta
	// Verb names the command, the same word at every layer.
	Verb() Verb
	// Validate refuses fields that are wrong whatever the store holds, naming
	// the field.
	Validate() error
	// weigh counts the entries and the bytes that it carries.
	weigh() (entries, bytes int)
}

// Verb names a command.
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

// Meta is what every command carries. The id makes sending again harmless:
// what a command creates is named by it.
type Meta struct {
	ID           ID     `wire:"1"`
	Actor        string `wire:"2"` // on whose behalf; empty is the process itself
	RulesVersion int    `wire:"3"` // the version of the law it was written under; 0 is read as 1, the first
}

// NewMeta begins a command with a fresh id.
func NewMeta(actor string) Meta {
	return Meta{ID: NewID(), Actor: actor, RulesVersion: RulesVersion}
}

// Head returns the command's shared part.
func (m *Meta) Head() *Meta { return m }

// LeaseRef names a lease: which run of which job, and the proof.
type LeaseRef struct {
	JobID ID    `wire:"1"`
	RunID ID    `wire:"2"`
	Token Token `wire:"3"`
}
