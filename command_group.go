package rota

// EnqueueGroup adds all members of a group to the queue in their order, or none. A
// member must not have a plan time, and its unique key must be free.
type EnqueueGroup struct {
	Meta      `wire:"1"`
	Name      string    `wire:"2"` // for people; need not be unique
	Mode      GroupMode `wire:"3"` // empty: parallel
	OnFailure OnFailure `wire:"4"` // empty: continue
	Jobs      []NewJob  `wire:"5"`
}

// CancelGroup cancels the queued members of a group and asks the running members to
// stop. It takes effect at once for all members; in a large group, Sweep updates the
// remaining rows.
type CancelGroup struct {
	Meta    `wire:"1"`
	GroupID ID     `wire:"2"`
	Reason  string `wire:"3"`
}

// Verb returns the kind of the command.
func (*EnqueueGroup) Verb() Verb { return VerbEnqueueGroup }

// Verb returns the kind of the command.
func (*CancelGroup) Verb() Verb { return VerbCancelGroup }
