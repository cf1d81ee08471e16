package rota

import "fmt"

// All combines its members into one all-or-nothing command. If one member is refused,
// all are.
type All struct {
	Meta    `wire:"1"`
	Members []Command `wire:"2"`
	// Dry applies the members and returns the replies without writing anything.
	// Sent again, it is evaluated on the rows at that time.
	Dry bool `wire:"3"`
}

// Verb returns the kind of the command.
func (*All) Verb() Verb { return VerbAll }

// Validate checks the members. Verbs that find their rows by order, and All, cannot be
// members.
func (c *All) Validate() error {
	if err := checkCount("members", len(c.Members), 1, BatchMax); err != nil {
		return err
	}
	seen := map[ID]bool{c.ID: true}
	for i, m := range c.Members {
		field := fmt.Sprintf("members[%d]", i)
		if IsNil(m) {
			return Invalidf(field, "is empty")
		}
		if !inAll[m.Verb()] {
			return Invalidf(field, "%s cannot be a member of All; send it as its own command", m.Verb())
		}
		if err := CheckCommand(m); err != nil {
			return within(field, err)
		}
		if seen[m.Head().ID] {
			return Invalidf(field+".id", "is also the id of another command; give each command its own id")
		}
		seen[m.Head().ID] = true
	}
	return nil
}

func (c *All) weigh() (entries, bytes int) {
	for _, m := range c.Members {
		if IsNil(m) {
			continue // Validate reports it
		}
		e, b := m.weigh()
		entries, bytes = entries+e, bytes+b
	}
	return entries, bytes
}

// AllDone answers All, with one reply per member.
type AllDone struct {
	Replies []Reply `wire:"1"`
}

func (*AllDone) reply() {}

// inAll holds the verbs that can be members of All: those that users send and that find
// their rows by name or id.
var inAll = map[Verb]bool{
	VerbEnqueue: true, VerbFinish: true, VerbCancel: true, VerbEdit: true, VerbNote: true,
	VerbPutType: true, VerbSwitchType: true, VerbPutTemplate: true, VerbArchive: true, VerbUnarchive: true,
	VerbPutThrottle: true, VerbPutWebhooks: true, VerbPutSchedule: true, VerbSwitchSchedule: true, VerbDeleteSchedule: true, VerbDrop: true,
	VerbTrigger: true, VerbEnqueueGroup: true, VerbCancelGroup: true, VerbRedrive: true,
	VerbPutPrincipal: true, VerbDropPrincipal: true, VerbGrantPrivileges: true,
	VerbSetOwner: true, VerbPutSecret: true, VerbDeleteSecret: true,
}
