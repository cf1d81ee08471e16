package codec

import (
	"reflect"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/rotajobs/rota"
)

// closedSet is a table of struct types. A pointer to one of them is encoded as a message
// of one field, whose number is the index of the type in the table.
type closedSet struct {
	name    string         // of one of the values, in errors
	types   []reflect.Type // by wire number
	plans   []*plan        // by wire number
	numbers map[reflect.Type]protowire.Number
	sizes   []int            // bytes of memory of a value, by wire number
	all     protowire.Number // the type that contains others; it cannot contain itself
}

var (
	commands = newClosedSet("command", wireCommands[:], reflect.TypeFor[rota.All]())
	replies  = newClosedSet("reply", wireReplies[:], reflect.TypeFor[rota.AllDone]())
)

func newClosedSet(name string, types []reflect.Type, all reflect.Type) *closedSet {
	s := &closedSet{name: name, types: types, plans: make([]*plan, len(types)), sizes: make([]int, len(types)), numbers: map[reflect.Type]protowire.Number{}}
	for n, t := range types {
		if t != nil {
			s.plans[n], s.sizes[n] = mustPlan(t), int(t.Size())
			s.numbers[t] = protowire.Number(n)
		}
	}
	s.all = s.numbers[all]
	return s
}

func (s *closedSet) nestedAll() *rota.Error {
	all := s.types[s.all].Name()
	return rota.Invalidf("", "an %s cannot contain an %s", all, all)
}

// setOf returns the table of a kindCommand or kindReply.
func setOf(k kind) *closedSet {
	if k == kindReply {
		return replies
	}
	return commands
}
