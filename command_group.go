package rota

// EnqueueGroup puts the members of a group into the queue, all of them or none,
// in their order. A member may not have a plan time, and its unique key must be
// free.
type EnqueueGroup struct {
	Meta      `wire:"1"`
	Name      string    `wire:"2"` // for people; need not be unique
	Mode      GroupMode `wire:"3"` // empty: parallel
	OnFailure OnFailure `wire:"4"` // empty: continue
	Jobs      []NewJob  `wire:"5"`
}

// CancelGroup cancels what of a group has not started and asks what runs to
// stop. Of a large group Sweep carries out the rest; none of it starts any more.
type CancelGroup struct {
	Meta    `wire:"1"`
	GroupID ID     `wire:"2"`
	Reason  string `wire:"3"`
}

// Verb names the command.
func (*EnqueueGroup) Verb() Verb { return VerbEnqueueGroup }

// Verb names the command.
func (*CancelGroup) Verb() Verb { return VerbCancelGroup }
