package rota

import (
	"fmt"
	"reflect"
	"time"
)

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

	VerbPutPrincipal    Verb = "put_principal"
	VerbDropPrincipal   Verb = "drop_principal"
	VerbGrantPrivileges Verb = "grant_privileges"
	VerbPutToken        Verb = "put_token"
	VerbRevokeToken     Verb = "revoke_token"
	VerbTouchTokens     Verb = "touch_tokens"
	VerbRecordAccess    Verb = "record_access"
	VerbSetOwner        Verb = "set_owner"

	VerbPutSecret        Verb = "put_secret"
	VerbDeleteSecret     Verb = "delete_secret"
	VerbRewrapSecrets    Verb = "rewrap_secrets"
	VerbPromoteSecretKey Verb = "promote_secret_key"
)

// Meta is the head of every command. The ids of the rows that a command creates are
// derived from its id, so a command can be sent again.
type Meta struct {
	ID           ID     `wire:"1"`
	Actor        string `wire:"2"` // user or program on whose behalf the command is sent; empty: the process itself
	RulesVersion int    `wire:"3"` // rules the command was written for; 0 means 1
	// Expect is the state on which the sender decided that the command is allowed. The store refuses the
	// command if the state is another one.
	Expect []Expectation `wire:"4"`
}

// Head returns the head.
func (m *Meta) Head() *Meta { return m }

// weigh is for commands without other contents.
func (m *Meta) weigh() (entries, bytes int) { return 1, entryBytes }

// NewMeta returns a head with a new id.
func NewMeta(actor string) Meta {
	return Meta{ID: NewID(), Actor: actor, RulesVersion: RulesVersion}
}

// Result is the answer to one command: a Reply, or an error if the command was refused
// and changed nothing.
type Result struct {
	Reply Reply  `wire:"1"`
	Err   *Error `wire:"2"`
}

// Reply is the answer of a command that was applied. The set is closed: one type per
// verb.
type Reply interface{ reply() }

// CheckCommand validates a command and its head.
func CheckCommand(c Command) error {
	if IsNil(c) {
		return Invalidf("command", "is empty")
	}
	h := c.Head()
	if h.RulesVersion < 0 || h.RulesVersion > RulesVersion {
		return Invalidf("rules_version", "is %d; this program knows versions up to %d; upgrade it", h.RulesVersion, RulesVersion)
	}
	if err := first(checkNewID("id", h.ID), checkText("actor", h.Actor, NameMax), checkExpectations(h.Expect), checkWeight(c)); err != nil {
		return err
	}
	return c.Validate()
}

// IsNil reports whether c is nil or holds a nil pointer.
func IsNil(c Command) bool {
	return c == nil || reflect.ValueOf(c).IsNil()
}

// entryBytes is the estimated size of an entry without its contents.
const entryBytes = 256

// Weigh returns the number of jobs, items and artifacts of a command, and its estimated
// size in bytes.
func Weigh(c Command) (entries, bytes int) { return c.weigh() }

// checkWeight bounds the size of a command. A command is atomic, so a store cannot split
// it.
func checkWeight(c Command) *Error {
	entries, bytes := c.weigh()
	switch {
	case entries > CommandEntriesMax:
		return Invalidf("command", "has %d jobs, items and artifacts; at most %d are allowed: split it", entries, CommandEntriesMax)
	case bytes > CommandBytesMax:
		return Invalidf("command", "has about %s; at most %s are allowed: split it", mebibytes(bytes), mebibytes(CommandBytesMax))
	}
	return nil
}

func mebibytes(n int) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

func lengths(texts []string) (total int) {
	for _, t := range texts {
		total += 8 + len(t)
	}
	return total
}
