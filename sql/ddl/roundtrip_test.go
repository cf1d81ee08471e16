package ddl

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestPrintThenParseReturnsSameStatement draws statements of every kind without passwords and secrets, which Print
// masks.
func TestPrintThenParseReturnsSameStatement(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawStatement(t)
		text := Print(want)
		got, err := Parse(text)
		if err != nil {
			t.Fatalf("%s\n%v", text, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s\ngot  %+v\nwant %+v", text, got, want)
		}
		if again := Print(got); again != text {
			t.Fatalf("printed %s\nand then %s", text, again)
		}
		sources, err := Split(text + "; " + text)
		if err != nil || len(sources) != 2 || sources[0].Text != text || sources[1].Text != text {
			t.Fatalf("%s\nis split into %+v, %v", text, sources, err)
		}
	})
}

// TestKeywordsParseAsNames uses each keyword as each kind of name.
func TestKeywordsParseAsNames(t *testing.T) {
	job := Clauses{Schedule: &Schedule{Cron: "x"}, Action: &Action{Text: "x"}}
	for _, word := range keywordNames() {
		list := []string{word, word + "2", word + "3"}
		last := []string{"x", word}
		for _, want := range []Statement{
			&CreateJob{Name: word, Job: job}, &CreateJob{Name: word, Job: job, IfNotExists: true}, &CreateJob{Name: word, Job: job, Mode: Recreate},
			&CreateJob{Name: "x", Job: Clauses{Schedule: job.Schedule, Action: &Action{Kind: Call, Procedure: word + "." + word}, DependsOn: last, DependsGiven: true}},
			&AlterJob{Name: word, Set: Clauses{RunAs: &word, Target: &word}}, &AlterJob{Name: word, IfExists: true, Set: Clauses{RunAs: &word}},
			&AlterJob{Name: "x", Set: Clauses{DependsOn: list, DependsGiven: true, State: pointer("PAUSED")}},
			&AlterJob{Name: "x", Set: Clauses{DependsOn: last, DependsGiven: true, State: pointer("PAUSED")}},
			&AlterJob{Name: "x", Set: Clauses{DependsOn: last, DependsGiven: true}, Secrets: []SecretChange{{Key: "k", Drop: true}}},
			&DropJob{Name: word}, &DropJob{Name: word, IfExists: true}, &DropJob{Name: word, KeepHistory: true},
			&ExecuteJob{Name: word}, &ShowCreateJob{Name: word},
			&Security{Kind: CreateUser, Name: word}, &Security{Kind: DropRole, Name: word, IfExists: true}, &Security{Kind: AlterRole, Name: word, Certificate: pointer("cn")},
			&Security{Kind: AlterUser, Name: word, IfExists: true, Password: pointer("")}, &Security{Kind: CreateRole, Name: word, IfNotExists: true},
			&AlterOwner{Name: word, Owner: word}, &AlterOwner{Name: word, IfExists: true}, &ShowGrants{For: &word},
			&Security{Kind: Grant, Role: word, To: last}, &Security{Kind: Revoke, All: true, Job: word, To: list},
		} {
			if got, err := Parse(Print(want)); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s\ngot  %+v, %v", Print(want), got, err)
			}
		}
	}
}

var (
	anyText     = rapid.StringOfN(rapid.RuneFrom([]rune("ab'\"$;-/*() \n\\éß漢,=.5")), 0, 12, -1)
	anyNonBlank = anyText.Filter(func(s string) bool { return strings.TrimSpace(s) != "" })
	anyName     = rapid.OneOf(
		rapid.StringMatching(`[a-z_][a-z0-9_]{0,8}`),
		rapid.SampledFrom(append(keywordNames(), "Mixed", "a b", `a"b`, "größe", "5", "a.b", "a$b", "ſet", strings.Repeat("x", NameMax))),
		anyText.Filter(func(s string) bool { return s != "" }),
	)
	anyNames = rapid.SliceOfNDistinct(anyName, 1, 4, rapid.ID)
	anyUUID  = rapid.StringMatching(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	anyTime  = rapid.SampledFrom([]string{
		"2026-11-15 09:00", "2026-11-15 09:00:30", "2026-11-15 09:00:30.5", "2026-11-15T09:00:00Z", "2026-11-15T09:00:00.123456-03:30",
	})
)

// keywordNames are names that are keywords somewhere.
func keywordNames() []string {
	words := []string{"if", "not", "exists", "none", "set", "secret", "keep", "to", "from", "on", "job", "jobs", "run", "as", "with", "password", "privileges", "external", "certificate", "null", "owner", "current_user", "session_user", "current_role", "for"}
	for _, list := range [][]string{statementWords, privilegeWords, states, classes, unitWords()} {
		for _, w := range list {
			words = append(words, strings.ToLower(w))
		}
	}
	for _, c := range clauses {
		words = append(words, strings.ToLower(c.words[0]))
	}
	return words
}

func drawStatement(t *rapid.T) Statement {
	yes := rapid.Bool()
	switch kind := rapid.IntRange(0, 21).Draw(t, "kind"); kind {
	case 0, 1, 2:
		s := &CreateJob{Name: anyName.Draw(t, "name"), Mode: rapid.SampledFrom([]CreateMode{Create, CreateOrAlter, Recreate}).Draw(t, "mode")}
		s.IfNotExists = s.Mode == Create && yes.Draw(t, "if not exists")
		s.Job = drawClauses(t, true)
		return s
	case 3, 4, 5:
		return drawAlter(t)
	case 6:
		return &DropJob{Name: anyName.Draw(t, "name"), IfExists: yes.Draw(t, "if exists"), KeepHistory: yes.Draw(t, "keep")}
	case 7:
		return &ExecuteJob{Name: anyName.Draw(t, "name")}
	case 8:
		return &CancelRun{ID: anyUUID.Draw(t, "id")}
	case 9:
		return &ExplainRun{ID: anyUUID.Draw(t, "id")}
	case 10:
		return &ShowCreateJob{Name: anyName.Draw(t, "name")}
	case 11:
		return rapid.SampledFrom([]Statement{&ShowJobs{}, &ShowUsers{}, &ShowRoles{}, &ShowGrants{}, &ShowGrants{For: pointer("")}, &Commit{}, &Rollback{}, &Begin{}, &Begin{Mode{ReadOnly: new(true)}}, &Begin{Mode{Level: "REPEATABLE READ", ReadOnly: new(false)}}}).Draw(t, "plain")
	case 12:
		return &Show{Name: rapid.StringMatching(`x[a-z_]{0,5}([. ][a-z_]{1,5}){0,2}`).Draw(t, "setting")}
	case 13:
		return &Select{Text: "SELECT " + quoteString(anyText.Draw(t, "text")) + " FROM x"}
	case 14:
		return &ExplainQuery{Text: "EXPLAIN SELECT " + quoteString(anyText.Draw(t, "text"))}
	case 15, 16:
		return drawGrant(t)
	case 17:
		return drawSession(t)
	case 18:
		return &AlterOwner{Name: anyName.Draw(t, "name"), IfExists: yes.Draw(t, "if exists"), Owner: rapid.OneOf(anyName, rapid.Just("")).Draw(t, "owner")}
	case 19:
		return &ShowGrants{For: pointer(anyName.Draw(t, "name"))}
	default:
		return drawPrincipal(t)
	}
}

// drawPrincipal draws a statement about one user or role. The password is none or NULL, because Print masks others.
func drawPrincipal(t *rapid.T) Statement {
	kind := rapid.SampledFrom([]SecurityKind{CreateUser, AlterUser, DropUser, CreateRole, AlterRole, DropRole}).Draw(t, "security")
	s := &Security{Kind: kind, Name: anyName.Draw(t, "name")}
	yes := rapid.Bool().Draw(t, "if")
	switch kind {
	case CreateUser:
		s.IfNotExists, s.Certificate = yes, maybe(t, "certificate", anyNonBlank)
	case CreateRole:
		s.IfNotExists = yes
	case AlterUser, AlterRole:
		s.IfExists, s.Certificate = yes, maybe(t, "certificate", anyText)
		if s.Certificate == nil || rapid.Bool().Draw(t, "password") {
			s.Password = pointer("")
		}
	default:
		s.IfExists = yes
	}
	return s
}

func drawSession(t *rapid.T) Statement {
	setting := rapid.StringMatching(`[a-z_]{1,6}(\.[a-z_ ]{1,5}){0,2}`).Draw(t, "setting")
	name, yes := anyName.Draw(t, "name"), rapid.Bool().Draw(t, "yes")
	values := rapid.SliceOfN(anyText, 1, 3).Draw(t, "values")
	return rapid.SampledFrom([]Statement{
		&Set{Name: setting, Values: values, Local: yes}, &Set{Name: setting}, &SetMode{yes, Mode{ReadOnly: new(rapid.Bool().Draw(t, "read only"))}}, &SetMode{yes, Mode{Level: "SERIALIZABLE"}},
		&Reset{Name: setting}, &Reset{}, &Discard{What: "ALL"}, &Discard{What: "TEMP"}, &Deallocate{}, &Deallocate{Name: name},
		&NoOp{What: "CLOSE ALL"}, &NoOp{What: "UNLISTEN *"}, &Savepoint{Name: name}, &Release{Name: name}, &RollbackTo{Name: name},
	}).Draw(t, "session")
}

func drawAlter(t *rapid.T) Statement {
	s := &AlterJob{Name: anyName.Draw(t, "name"), IfExists: rapid.Bool().Draw(t, "if exists"), Set: drawClauses(t, false)}
	for _, key := range rapid.SliceOfNDistinct(anyNonBlank, 0, 2, rapid.ID).Draw(t, "secrets") {
		s.Secrets = append(s.Secrets, SecretChange{Key: key, Drop: true})
	}
	if len(s.Set.print(true)) == 0 && s.Secrets == nil {
		s.Set.State = pointer("PAUSED")
	}
	return s
}

func drawGrant(t *rapid.T) Statement {
	s := &Security{Kind: rapid.SampledFrom([]SecurityKind{Grant, Revoke}).Draw(t, "security"), To: anyNames.Draw(t, "to")}
	switch rapid.IntRange(0, 2).Draw(t, "what") {
	case 0:
		s.Role = anyName.Draw(t, "role")
		return s
	case 1:
		s.All = true
	default:
		s.Privileges = rapid.SliceOfNDistinct(rapid.SampledFrom(Privileges), 1, 3, rapid.ID).Draw(t, "privileges")
	}
	if rapid.Bool().Draw(t, "on job") {
		s.Job = anyName.Draw(t, "job")
	}
	return s
}

// maybe draws a value, or none.
func maybe[T any](t *rapid.T, label string, g *rapid.Generator[T]) *T {
	if !rapid.Bool().Draw(t, "has "+label) {
		return nil
	}
	value := g.Draw(t, label)
	return &value
}

func drawClauses(t *rapid.T, whole bool) Clauses {
	seconds := rapid.Map(rapid.IntRange(0, 1<<31-1), func(n int) time.Duration { return time.Duration(n) * time.Second })
	c := Clauses{
		Class:        maybe(t, "class", rapid.SampledFrom(classes)),
		Partition:    maybe(t, "partition", rapid.Custom(drawPartition)),
		Schedule:     maybe(t, "schedule", rapid.Custom(drawSchedule)),
		TimeZone:     maybe(t, "zone", anyNonBlank),
		CatchUp:      maybe(t, "catch up", rapid.SampledFrom([]string{"none", "last", "all"})),
		Overlap:      maybe(t, "overlap", rapid.SampledFrom([]string{"allow", "skip", "cancel"})),
		MaxRetries:   maybe(t, "retries", rapid.IntRange(0, 1<<31-1)),
		RetryBackoff: maybe(t, "backoff", seconds),
		Timeout:      maybe(t, "timeout", seconds),
		OnCompletion: maybe(t, "completion", rapid.SampledFrom([]string{"preserve", "drop"})),
		RunAs:        maybe(t, "role", rapid.OneOf(anyName, rapid.Just(""))),
		Description:  maybe(t, "description", anyText),
		State:        maybe(t, "state", rapid.SampledFrom(states)),
		Priority:     maybe(t, "priority", rapid.IntRange(-1<<31, 1<<31-1)),
		Target:       maybe(t, "target", anyName),
		Params:       maybe(t, "params", rapid.SampledFrom([]string{"{}", ` {"a": "it's"} `, `{"b": [1, null]}`})),
		Action:       maybe(t, "action", rapid.Custom(drawAction)),
		DependsGiven: rapid.Bool().Draw(t, "depends"),
	}
	if c.DependsGiven && rapid.Bool().Draw(t, "depends on some") {
		c.DependsOn = anyNames.Draw(t, "depends on")
	}
	if whole && c.Schedule == nil {
		c.Schedule = &Schedule{Cron: "x"}
	}
	if whole && c.Action == nil {
		c.Action = &Action{Text: "x"}
	}
	if c.Schedule != nil && c.Schedule.Kind != At && c.OnCompletion != nil {
		*c.OnCompletion = "preserve"
	}
	return c
}

func drawSchedule(t *rapid.T) Schedule {
	s := Schedule{Kind: rapid.SampledFrom([]ScheduleKind{Cron, At, Every}).Draw(t, "kind")}
	switch s.Kind {
	case At:
		s.At = anyTime.Draw(t, "at")
		return s
	case Every:
		s.Every = time.Duration(rapid.Int64Range(1, 1<<33).Draw(t, "every")) * time.Second
	default:
		s.Cron = anyNonBlank.Draw(t, "cron")
	}
	s.Starts = rapid.OneOf(anyTime, rapid.Just("")).Draw(t, "starts")
	s.Ends = rapid.OneOf(anyTime, rapid.Just("")).Draw(t, "ends")
	return s
}

func drawPartition(t *rapid.T) Partition {
	p := Partition{Strategy: rapid.SampledFrom([]string{AllShards, SingleShard, ShardSet, Dynamic}).Draw(t, "strategy")}
	switch p.Strategy {
	case SingleShard:
		p.Shards = []string{anyUUID.Draw(t, "shard")}
	case ShardSet:
		p.Shards = rapid.SliceOfNDistinct(anyUUID, 1, 3, rapid.ID).Draw(t, "shards")
	case Dynamic:
		p.Expression = anyNonBlank.Draw(t, "expression")
	}
	return p
}

func drawAction(t *rapid.T) Action {
	a := Action{Kind: rapid.SampledFrom([]ActionKind{SQL, Call, Exec}).Draw(t, "kind")}
	if a.Kind != Call {
		a.Text = anyNonBlank.Draw(t, "text")
		return a
	}
	part := anyName.Filter(func(s string) bool { return !strings.Contains(s, ".") })
	a.Procedure = strings.Join(rapid.SliceOfN(part, 1, 3).Draw(t, "procedure"), ".")
	for range rapid.IntRange(0, 4).Draw(t, "args") {
		a.Args = append(a.Args, drawValue(t))
	}
	return a
}

func drawValue(t *rapid.T) Value {
	switch rapid.IntRange(0, 3).Draw(t, "value") {
	case 0:
		return Value{Kind: Null}
	case 1:
		return Value{Kind: String, Text: anyText.Draw(t, "text")}
	case 2:
		return Value{Kind: Bool, Text: fmt.Sprint(rapid.Bool().Draw(t, "bool"))}
	default:
		return Value{Kind: Number, Text: rapid.StringMatching(`-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,5})?([eE][+-]?[0-9]{1,3})?`).Draw(t, "number")}
	}
}
