//go:build amd64 || arm64

package shim

import (
	"encoding/binary"
	"errors"
)

// Descriptors of the shim. The result is present if Settings.Result is set.
const (
	controlFD = 3 // a socket: settings, then orders to the shim; reports from it
	programFD = 4
	resultFD  = 5
)

// Orders to the shim, one byte each. The end of the socket means that the server has died.
const (
	Terminate = 'T'
	Kill      = 'K'
)

// Settings is everything that the shim does. The server computes as much of it as possible.
type Settings struct {
	Namespaces bool // the shim is the first process of its namespaces
	Confine    bool // Landlock, the filter of system calls, and no new privileges
	Probe      bool // do everything but execute the program

	Name          string // first argument of the program
	Path          string
	Device, Inode uint64 // of the checked file
	Args, Env     []string
	Dir           string
	Result        bool
	Null          uint64 // bit n: descriptor n of the program is /dev/null

	Mounts  []Mount
	TempMax uint64
	PIDMax  uint64 // 0: the kernel's

	Landlock Ruleset
	Filter   []byte // of system calls, in the form that the kernel reads
	Limits   []Limit

	SwitchUser bool
	UID, GID   uint64
	Groups     []uint64
	DropAll    bool // the shim has capabilities that the program would inherit as root
}

// Mount is one entry of the private root.
type Mount struct {
	Kind   uint64
	Source string // for a Link: what it contains
	Target string
}

// Kinds of mounts.
const (
	ReadOnly = iota + 1
	ReadWrite
	Link
	Hide
)

// Ruleset is a ruleset of Landlock. Rules add rights below their paths.
type Ruleset struct {
	Files, Net, Scoped uint64 // what is handled, so forbidden without a rule
	Rules              []Rule
	Program            uint64 // rights for the program itself
}

// Rule allows access below a path.
type Rule struct {
	Path   string
	Access uint64
}

// Limit is a resource limit, soft and hard.
type Limit struct{ Resource, Value uint64 }

// Encode returns the settings behind their length.
func (s *Settings) Encode() []byte {
	c := &coder{buf: make([]byte, 4, 1024), writing: true}
	s.code(c)
	binary.LittleEndian.PutUint32(c.buf, uint32(len(c.buf)-4))
	return c.buf
}

func (s *Settings) decode(data []byte) error {
	c := &coder{buf: data}
	s.code(c)
	if c.short || len(c.buf) > 0 {
		return errors.New("the settings do not have the format of this executable")
	}
	return nil
}

// code writes or reads all fields.
func (s *Settings) code(c *coder) {
	c.bool(&s.Namespaces)
	c.bool(&s.Confine)
	c.bool(&s.Probe)
	c.string(&s.Name)
	c.string(&s.Path)
	c.number(&s.Device)
	c.number(&s.Inode)
	list(c, &s.Args, c.string)
	list(c, &s.Env, c.string)
	c.string(&s.Dir)
	c.bool(&s.Result)
	c.number(&s.Null)
	list(c, &s.Mounts, func(m *Mount) {
		c.number(&m.Kind)
		c.string(&m.Source)
		c.string(&m.Target)
	})
	c.number(&s.TempMax)
	c.number(&s.PIDMax)
	c.number(&s.Landlock.Files)
	c.number(&s.Landlock.Net)
	c.number(&s.Landlock.Scoped)
	c.number(&s.Landlock.Program)
	list(c, &s.Landlock.Rules, func(r *Rule) {
		c.string(&r.Path)
		c.number(&r.Access)
	})
	c.bytes(&s.Filter)
	list(c, &s.Limits, func(l *Limit) {
		c.number(&l.Resource)
		c.number(&l.Value)
	})
	c.bool(&s.SwitchUser)
	c.number(&s.UID)
	c.number(&s.GID)
	list(c, &s.Groups, c.number)
	c.bool(&s.DropAll)
}

// coder appends to buf or takes from its front, so that one function describes both directions.
type coder struct {
	buf     []byte
	writing bool
	short   bool // the data ended too early
}

func (c *coder) number(v *uint64) {
	switch {
	case c.writing:
		c.buf = binary.LittleEndian.AppendUint64(c.buf, *v)
	case len(c.buf) < 8:
		c.buf, c.short = nil, true
	default:
		*v, c.buf = binary.LittleEndian.Uint64(c.buf), c.buf[8:]
	}
}

func (c *coder) bool(v *bool) {
	var n uint64
	if *v {
		n = 1
	}
	c.number(&n)
	*v = n == 1
}

func (c *coder) bytes(v *[]byte) {
	n := uint64(len(*v))
	c.number(&n)
	switch {
	case c.writing:
		c.buf = append(c.buf, *v...)
	case uint64(len(c.buf)) < n:
		c.buf, c.short = nil, true
	default:
		*v, c.buf = c.buf[:n:n], c.buf[n:]
	}
}

func (c *coder) string(v *string) {
	b := []byte(*v)
	c.bytes(&b)
	*v = string(b)
}

func list[T any](c *coder, v *[]T, one func(*T)) {
	n := uint64(len(*v))
	c.number(&n)
	if !c.writing {
		if n > uint64(len(c.buf)) { // every element takes at least a byte
			c.buf, c.short = nil, true
			return
		}
		*v = make([]T, n)
	}
	for i := range *v {
		one(&(*v)[i])
	}
}
