package action

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

func call(procedure string, args ...any) Call {
	p := Call{Procedure: procedure, Target: "t"}
	for _, arg := range args {
		text, err := json.Marshal(arg)
		if err != nil {
			panic(err)
		}
		p.Args = append(p.Args, text)
	}
	return p
}

func TestCallRunsPostgresProceduresAndFunctions(t *testing.T) {
	g := newPostgresTarget(t)
	w := g.newEnv(t)
	w.mustComplete(statement(`CREATE SCHEMA "My s"; CREATE TABLE a (id int, note text, ok bool);
		CREATE PROCEDURE "My s"."Add"(n int, note text, ok bool DEFAULT true) LANGUAGE sql AS $$ INSERT INTO public.a VALUES (n, note, ok) $$;
		CREATE FUNCTION twice(n int) RETURNS TABLE (x int) LANGUAGE sql AS $$ SELECT n UNION ALL SELECT n * 2 $$;
		CREATE PROCEDURE commits() LANGUAGE plpgsql AS $$ BEGIN COMMIT; END $$`))
	w.mustComplete(job(call(`"My s"."Add"`, 7, "it's; $1", false)))
	w.mustComplete(job(call(` "My s"."Add" `, 8, nil)))
	if rows := g.query(t, "SELECT id, note, ok FROM a ORDER BY id"); len(rows) != 2 || strings.Join(rows[0], ",") != "7,it's; $1,f" || strings.Join(rows[1], ",") != "8,,t" {
		t.Errorf("%q", rows)
	}
	if rows := result[Rows](w, w.mustComplete(job(call("public.TWICE", 21)))); len(rows.Rows) != 2 || rows.Rows[1][0] != 42.0 {
		t.Errorf("%+v", rows)
	}
	w.mustFail(job(call("twice")), undefinedFunction, "no procedure and no function", "0 arguments")
	w.mustFail(job(call("my_s.add", 1, "x")), undefinedFunction)
	w.mustFail(job(call("twice", "x")), "22P02")
	w.mustFail(job(call("commits")), "2D000")
	w.mustFail(job(call("twice; DROP TABLE a", 1)), codeParams, "is not a name")
	w.mustFail(job(call("twice", []int{1})), codeParams, "number 1")
}

func TestCallRunsMariaDBProcedures(t *testing.T) {
	g := newMariaTarget(t)
	w := g.newEnv(t)
	w.mustComplete(statement("CREATE TABLE a (id INT, note TEXT, ok BOOL)"))
	w.mustComplete(statement("CREATE PROCEDURE `add one`(n INT, note TEXT, ok BOOL)\nBEGIN\n  INSERT INTO a VALUES (n, note, ok);\n  SELECT count(*) AS c FROM a;\nEND"))
	done := w.mustComplete(job(call("`add one`", 7, "it's; ?", true)))
	if rows := result[Rows](w, done); rows.Columns[0] != "c" || rows.Rows[0][0] != 1.0 {
		t.Errorf("%+v", rows)
	}
	w.mustComplete(job(call(g.queryValue(t, "SELECT DATABASE()")+".`add one`", 8, nil, false)))
	if rows := g.query(t, "SELECT id, note, ok FROM a ORDER BY id"); len(rows) != 2 || strings.Join(rows[0], ",") != "7,it's; ?,1" || strings.Join(rows[1], ",") != "8,,0" {
		t.Errorf("%q", rows)
	}
	w.mustFail(job(call("missing")), "42000", "missing")
}

func TestCallOnSQLiteIsRefused(t *testing.T) {
	w := newSQLiteTarget(t).newEnv(t)
	w.mustFail(job(call("x")), codeStatement, "SQLite has no procedures")
}

type greeting struct {
	Name string `json:"name" jsonschema:"minLength=1"`
}

func (greeting) JobType() string { return "greet" }

func TestCallWithoutTargetRunsHandler(t *testing.T) {
	greeted := make(chan string, 1)
	w := newTestEnv(t, func(reg *engine.Registry, _ rota.Store) {
		engine.Handle(reg, func(ctx context.Context, p greeting) error {
			if p.Name == "unknown" {
				return rota.Permanent(errors.New("the name is unknown"))
			}
			greeted <- p.Name
			return engine.Result(ctx, "hello")
		})
		Register(reg, Config{Data: t.TempDir()})
	})
	handler := func(name string, args ...any) rota.NewJob {
		p := call(name, args...)
		p.Target = ""
		return job(p)
	}
	done := w.mustComplete(handler("greet", greeting{"ada"}))
	if got := <-greeted; got != "ada" || string(done.Run.Result) != `"hello"` {
		t.Errorf("%s, %s", got, done.Run.Result)
	}
	w.mustFail(handler("greet", greeting{"unknown"}), "", "the name is unknown")
	w.mustFail(handler("greet"), "payload", "name")
	w.mustFail(handler("greet", 1), codeParams, "one object")
	w.mustFail(handler("missing"), codeTarget, "name a target", "register a handler")
	w.mustFail(handler("call", call("call")), codeTarget)
	for _, builtin := range []string{"exec", "sql", "http"} {
		w.mustFail(handler(builtin, map[string]string{}), codeTarget, "create a job of type "+builtin)
	}
	as := call("greet", greeting{"ada"})
	as.Target, as.RunAs = "", "etl"
	w.mustFail(job(as), codeRole, "runs as the server")
}
