package rota

import (
	"fmt"
	"time"
)

// SetOwner changes the owner of the template and of the schedule of a name, of those that exist, or only of one
// of them. Jobs that exist keep the owner that they were created with.
type SetOwner struct {
	Meta    `wire:"1"`
	Name    string `wire:"2"`
	Owner   string `wire:"3"` // an existing user, or admin
	Kind    string `wire:"4"` // ExpectTemplate or ExpectSchedule; empty: both
	Version *ID    `wire:"5"` // version of the one that the caller has read, with Kind; nil: any
}

// Verb returns the kind of the command.
func (*SetOwner) Verb() Verb { return VerbSetOwner }

// Validate requires a name and an owner, and a kind if there is a version.
func (c *SetOwner) Validate() error {
	if err := first(checkName("name", c.Name, true), checkName("owner", c.Owner, true)); err != nil {
		return err
	}
	if c.Kind == "" && c.Version == nil {
		return nil
	}
	return asError(checkOneOf("kind", c.Kind, ExpectTemplate, ExpectSchedule))
}

// OwnerSet answers SetOwner with the rows of its kind as they are now; nil: there is none. Changed is false if the
// user owned them already.
type OwnerSet struct {
	Template *Template `wire:"1"`
	Schedule *Schedule `wire:"2"`
	Changed  bool      `wire:"3"`
}

func (*OwnerSet) reply() {}

// The kinds of objects that a command may expect.
const (
	ExpectTemplate = "template"
	ExpectSchedule = "schedule"
)

// Expectation is the state of a template or schedule that the sender of a command has seen. The store compares
// it in the transaction of the command. If it does not hold, the command changes nothing: it is refused with
// Conflict, unless it has nothing to change, as when it is sent again. A Note is refused even then.
type Expectation struct {
	Kind  string    `wire:"1"` // ExpectTemplate or ExpectSchedule
	Name  string    `wire:"2"`
	Owner string    `wire:"3"`
	Since time.Time `wire:"4"` // zero: it does not exist
	// Version is the version of the object; zero: any. The sender gives it if it has relied on more than the owner.
	Version ID `wire:"5"`
}

// Holds reports whether an object has this owner since this time, and this version. The time and the version of an object
// that does not exist are zero.
func (e *Expectation) Holds(owner string, since time.Time, version ID) bool {
	return e.Owner == owner && cutTime(e.Since).Equal(since) && (e.Version.IsZero() || e.Version == version)
}

// checkExpectations checks the expectations of a command.
func checkExpectations(expect []Expectation) *Error {
	if len(expect) > ExpectMax {
		return Invalidf("expect", "depends on %d templates and schedules; at most %d are allowed; send several commands", len(expect), ExpectMax)
	}
	for i := range expect {
		e, field := &expect[i], fmt.Sprintf("expect[%d]", i)
		if err := first(
			checkOneOf(field+".kind", e.Kind, ExpectTemplate, ExpectSchedule),
			checkName(field+".name", e.Name, true),
			checkName(field+".owner", e.Owner, false),
			checkTime(field+".since", e.Since),
		); err != nil {
			return err
		}
		if e.Since.IsZero() && e.Owner != "" {
			return Invalidf(field+".owner", "is given, but since is empty: what does not exist has no owner; give both or none")
		}
		if e.Since.IsZero() && !e.Version.IsZero() {
			return Invalidf(field+".version", "is given, but since is empty: what does not exist has no version; give both or none")
		}
	}
	return nil
}
