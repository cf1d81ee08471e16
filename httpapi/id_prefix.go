package httpapi

import "github.com/rotajobs/rota"

// idPrefixParam selects rows by the beginning of their id, for people who do not want to write all of it.
var idPrefixParam = param{
	name: "id_prefix", form: formIDPrefix, doc: "Beginning of the id, 8 or more characters.", example: "01926a5e-7c3b",
}

// idRange is a range of ids between two exclusive bounds; a zero bound is none.
type idRange struct{ after, before rota.ID }

// idRange returns the ids that begin with the id_prefix of the query.
func (c *call) idRange() (ids idRange) {
	low, high, err := rota.ParseIDPrefix(c.query.Get(idPrefixParam.name))
	if err != nil { // not given: readQuery has checked it
		return ids
	}
	ids.before = high.Next()
	ids.after = low.Previous()
	return ids
}

// startAt returns the id that a list continues before: that of the cursor, or the end of the range.
func (r idRange) startAt(cursor rota.ID) rota.ID {
	if cursor.IsZero() || !r.before.IsZero() && r.before.Compare(cursor) < 0 {
		return r.before
	}
	return cursor
}

func (r idRange) contains(id rota.ID) bool {
	return id.Compare(r.after) > 0 && (r.before.IsZero() || id.Compare(r.before) < 0)
}
