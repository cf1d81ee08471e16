package httpapi

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"strconv"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/sql/session"
)

// TestSQLKindsCoverEveryState checks the table against the states that the SQL packages declare.
func TestSQLKindsCoverEveryState(t *testing.T) {
	found := map[string]bool{}
	for _, file := range []string{
		"../sql/session/error.go", "../sql/system/error.go", "../sql/ddl/error.go", "../sql/translate/error.go", "../sql/query/error.go", "../sql/catalog/function.go",
	} {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range parsed.Decls {
			group, is := decl.(*ast.GenDecl)
			if !is || group.Tok != token.CONST {
				continue
			}
			for _, spec := range group.Specs {
				for _, value := range spec.(*ast.ValueSpec).Values {
					if text, is := value.(*ast.BasicLit); is && text.Kind == token.STRING {
						state, _ := strconv.Unquote(text.Value)
						found[state] = true
					}
				}
			}
		}
	}
	if len(found) < 20 {
		t.Fatalf("only %d states were found: %v", len(found), found)
	}
	for state := range found {
		if k, known := sqlKindOfState(state); !known || k.Status < 400 || k.Title == "" || k.code == "" {
			t.Errorf("%s has no status", state)
		}
	}
}

func TestSQLStateToHTTPStatus(t *testing.T) {
	for state, want := range map[string]int{
		"42601": 422, "42P01": 422, "22023": 422, "0A000": 422, "54000": 422, "25P02": 422, "25001": 422, "08P01": 422, "42883": 422,
		"42704": 404, "42710": 409, "2BP01": 409, "55000": 409, "40001": 409, "55P03": 409, "42501": 403, "57014": 408, "57P03": 503, "XX000": 500,
		"99999": 500, "": 500,
	} {
		p := problemOf(&session.Error{State: state, Message: "the password is hunter2", Line: 1, Position: 2, Column: 2})
		if p.Status != want || p.SQLState != state || (p.Status == 500) != (p.Detail == "internal error") {
			t.Errorf("%s becomes %+v", state, p)
		}
	}
}

func TestStatementCancelledByAStoppingServerIsUnavailable(t *testing.T) {
	p := problemOf(&session.Error{State: session.StateCancelled, Message: "the statement was cancelled", Err: context.Canceled})
	if p.Status != http.StatusServiceUnavailable || p.Code != string(rota.Unavailable) || p.SQLState != session.StateCancelled || p.Hint == "" {
		t.Errorf("a cancelled statement becomes %+v", p)
	}
	p = problemOf(&session.Error{State: session.StateCancelled, Message: "the statement took too long", Err: context.DeadlineExceeded})
	if p.Status != http.StatusRequestTimeout || p.Code != codeTooLong {
		t.Errorf("a statement that took too long becomes %+v", p)
	}
}
