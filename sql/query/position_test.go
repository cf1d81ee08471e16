package query

import "testing"

func TestTreePositionsAreByteOffsets(t *testing.T) {
	const text = `SELECT 'ü', a + b.c IS NULL, f(x)::int FROM s.t JOIN u ON TRUE`
	q, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	s := q.Body.(*Select)
	sum := s.Items[1].Expr.(*Is).X.(*Binary)
	join := s.From[0].(*Join)
	for _, c := range []struct {
		what string
		got  int
		want string
	}{
		{"a sum", sum.Place(), "a + b.c"},
		{"its operator", sum.OpAt, "+ b.c"},
		{"its right side", sum.Y.Place(), "b.c"},
		{"a name of a path", sum.Y.(*Column).Path[1].At, "c IS"},
		{"a cast", s.Items[2].Expr.Place(), "f(x)"},
		{"a type", s.Items[2].Expr.(*Cast).Type.At, "int"},
		{"a table", join.Left.(*Table).At, "s.t"},
		{"a join", join.At, "JOIN"},
	} {
		if rest := text[c.got:]; len(rest) < len(c.want) || rest[:len(c.want)] != c.want {
			t.Errorf("%s is at %d: %s", c.what, c.got, rest)
		}
	}
}
