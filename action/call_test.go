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

func TestProceduresOfPostgres(t *testing.T) {
	g := postgresGround(t)
	w := g.world(t)
	w.does(statement(`CREATE SCHEMA "My s"; CREATE TABLE a (id int, note text, ok bool);
		CREATE PROCEDURE "My s"."Add"(n int, note text, ok bool DEFAULT true) LANGUAGE sql AS $$ INSERT INTO public.a VALUES (n, note, ok) $$;
		CREATE FUNCTION twice(n int) RETURNS TABLE (x int) LANGUAGE sql AS $$ SELECT n UNION ALL SELECT n * 2 $$;
		CREATE PROCEDURE sly() LANGUAGE plpgsql AS $$ BEGIN COMMIT; END $$`))
	w.does(job(call(`"My s"."Add"`, 7, "it's; $1", false)))
	w.does(job(call(` "My s"."Add" `, 8, nil)))
	if rows := g.ask(t, "SELECT id, note, ok FROM a ORDER BY id"); len(rows) != 2 || strings.Join(rows[0], ",") != "7,it's; $1,f" || strings.Join(rows[1], ",") != "8,,t" {
		t.Errorf("%q", rows)
	}
	if rows := result[Rows](w, w.does(job(call("public.TWICE", 21)))); len(rows.Rows) != 2 || rows.Rows[1][0] != 42.0 {
		t.Errorf("%+v", rows)
	}
	w.fails(job(call("twice")), undefinedFunction, "no procedure and no function", "0 arguments")
	w.fails(job(call("my_s.add", 1, "x")), undefinedFunction)
	w.fails(job(call("twice", "x")), "22P02")
	w.fails(job(call("sly")), "2D000")
	w.fails(job(call("twice; DROP TABLE a", 1)), codeParams, "is not a name")
	w.fails(job(call("twice", []int{1})), codeParams, "number 1")
}

func TestProceduresOfMariaDB(t *testing.T) {
	g := mariaGround(t)
	w := g.world(t)
	w.does(statement("CREATE TABLE a (id INT, note TEXT, ok BOOL)"))
	w.does(statement("CREATE PROCEDURE `add one`(n INT, note TEXT, ok BOOL)\nBEGIN\n  INSERT INTO a VALUES (n, note, ok);\n  SELECT count(*) AS c FROM a;\nEND"))
	done := w.does(job(call("`add one`", 7, "it's; ?", true)))
	if rows := result[Rows](w, done); rows.Columns[0] != "c" || rows.Rows[0][0] != 1.0 {
		t.Errorf("%+v", rows)
	}
	w.does(job(call(g.one(t, "SELECT DATABASE()")+".`add one`", 8, nil, false)))
	if rows := g.ask(t, "SELECT id, note, ok FROM a ORDER BY id"); len(rows) != 2 || strings.Join(rows[0], ",") != "7,it's; ?,1" || strings.Join(rows[1], ",") != "8,,0" {
		t.Errorf("%q", rows)
	}
	w.fails(job(call("nowhere")), "42000", "nowhere")
}

func TestSQLiteHasNoProcedures(t *testing.T) {
	w := sqliteGround(t).world(t)
	w.fails(job(call("x")), codeStatement, "SQLite has no procedures")
}

type greeting struct {
	Name string `json:"name" jsonschema:"minLength=1"`
}

func (greeting) JobType() string { return "greet" }

func TestACallWithoutATargetIsAHandler(t *testing.T) {
	greeted := make(chan string, 1)
	w := newWorld(t, func(reg *engine.Registry, _ rota.Store) {
		engine.Handle(reg, func(ctx context.Context, p greeting) error {
			if p.Name == "nobody" {
				return rota.Permanent(errors.New("there is nobody"))
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
	done := w.does(handler("greet", greeting{"ada"}))
	if got := <-greeted; got != "ada" || string(done.Run.Result) != `"hello"` {
		t.Errorf("%s, %s", got, done.Run.Result)
	}
	w.fails(handler("greet", greeting{"nobody"}), "", "there is nobody")
	w.fails(handler("greet"), "payload", "name")
	w.fails(handler("greet", 1), codeParams, "one object")
	w.fails(handler("nowhere"), codeTarget, "name a target", "register a handler")
	w.fails(handler("call", call("call")), codeTarget)
	as := call("greet", greeting{"ada"})
	as.Target, as.RunAs = "", "etl"
	w.fails(job(as), codeRole, "runs as the server")
}
