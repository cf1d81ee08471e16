package diff

import (
	"fmt"
	"strings"
	"testing"
)

func TestByMemberShowsOldAndNewOfEachMemberThatDiffers(t *testing.T) {
	for _, one := range []struct{ was, is, want string }{
		{`{"params":{"a":1,"b":2}}`, `{"params":{"b":2,"a":1}}`, ``},
		{
			`{"n":1,"params":{"a":1,"b":2}}`, `{"n":2,"params":{"a":1,"b":3,"c":{}}}`,
			`{"n":{"old":1,"new":2},"params.b":{"old":2,"new":3},"params.c":{"old":null,"new":{}}}`,
		},
		{`{"params":{"a":null}}`, `{"params":{}}`, `{"params.a":{"old":null,"new":null}}`},
		{`{"params":{"password":"old"}}`, `{"params":{"password":"hunter2"}}`, `{"params.password":{"old":"[hidden]","new":"[hidden]"}}`},
		{`{"params":{}}`, `{"params":{"headers":{"X-Own":"hunter2"}}}`, `{"params.headers":{"old":null,"new":{"X-Own":"[hidden]"}}}`},
		{`{"params":{}}`, `{"params":{"sql":"ALTER USER a PASSWORD 'hunter2'"}}`, `{"params.sql":{"old":null,"new":"ALTER USER a PASSWORD '[hidden]'"}}`},
	} {
		if got := string(ByMember([]byte(one.was), []byte(one.is), "params")); got != one.want {
			t.Errorf("%s to %s: %s, want %s", one.was, one.is, got, one.want)
		}
	}
}

// TestByMemberShowsManyMembersAsAWhole checks the bounds of the size of an entry.
func TestByMemberShowsManyMembersAsAWhole(t *testing.T) {
	var many []string
	for i := range membersMax + 1 {
		many = append(many, fmt.Sprintf(`"m%d":1`, i))
	}
	for _, params := range []string{"{" + strings.Join(many, ",") + "}", `{"a":"` + strings.Repeat("x", scrubMax) + `"}`} {
		got := string(ByMember([]byte(`{"params":{}}`), []byte(`{"params":`+params+`}`), "params"))
		if !strings.HasPrefix(got, `{"params":{"old":`) || len(got) > 2*ValueMax {
			t.Errorf("%.100s…, %d bytes", got, len(got))
		}
	}
}
