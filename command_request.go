package rota

// Remember ties a key of its actor to a command that is about to be sent, so
// that a request sent again under the same key is the same command. It answers
// with the command that the key is tied to, which is this one's Command if the
// key was free. A request that differs is refused with Conflict. A key is free
// again after RequestKeep.
type Remember struct {
	Meta    `wire:"1"`
	Key     string `wire:"2"` // at most KeyMax bytes; of one actor, so that two may use the same
	Hash    string `wire:"3"` // of the request: 64 hexadecimal digits, in small letters
	Command ID     `wire:"4"` // the id that the request's command will have
}

// Verb names the command.
func (*Remember) Verb() Verb { return VerbRemember }

// Remembered answers Remember. Known says that the key was tied already: send
// the command under this id, and it is not done twice.
type Remembered struct {
	Command ID
	Known   bool
}

func (*Remembered) reply() {}
