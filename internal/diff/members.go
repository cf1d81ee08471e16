package diff

import (
	"bytes"
	"encoding/json"

	"github.com/rotajobs/rota/internal/scrub"
)

// membersMax is up to how many members that differ are shown one by one.
const membersMax = 50

// ByMember is Documents, except that the members of one field, an object, are compared one by one:
//
//	{"params.to": {"old": "ada", "new": "bob"}}
//
// A member that is null differs from one that is missing. If many members differ, or the object is
// too long to look for secrets in it, the field is shown as a whole.
func ByMember(was, is []byte, field string) json.RawMessage {
	old, next := fields(was), fields(is)
	changed := differences(old, next)
	members := differentMembers(old[field], next[field])
	if len(members) > membersMax || len(old[field]) > scrubMax || len(next[field]) > scrubMax {
		return encodeChanges(changed)
	}
	delete(changed, field)
	// Secrets are looked for in the whole object, because a member may say what another one is.
	oldShown, nextShown := withoutSecrets(old[field]), withoutSecrets(next[field])
	for _, name := range members {
		changed[field+"."+name] = change{member(oldShown, name), member(nextShown, name)}
	}
	return encodeChanges(changed)
}

// differentMembers returns the names of the members that differ.
func differentMembers(old, next json.RawMessage) (names []string) {
	was, is := fields(old), fields(next)
	for name, value := range was {
		if other, has := is[name]; !has || !bytes.Equal(value, other) {
			names = append(names, name)
		}
	}
	for name := range is {
		if _, has := was[name]; !has {
			names = append(names, name)
		}
	}
	return names
}

func withoutSecrets(object json.RawMessage) map[string]json.RawMessage {
	if len(object) == 0 {
		return nil
	}
	return fields(scrub.JSON(hideHeaders(object)))
}

func member(object map[string]json.RawMessage, name string) json.RawMessage {
	value, has := object[name]
	switch {
	case !has:
		return json.RawMessage("null")
	case scrub.Key(name):
		return json.RawMessage(`"` + scrub.Hidden + `"`)
	}
	return cut(value)
}
