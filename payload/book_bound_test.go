package payload

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/rotajobs/rota"
)

func TestBookForgetsSome(t *testing.T) {
	book := NewBook()
	for i := range pagesMost + 10 {
		name := fmt.Sprintf("type%d", i)
		book.keep(name, page{version: rota.NewID()})
	}
	if len(book.pages) != pagesMost {
		t.Errorf("it keeps %d, want %d", len(book.pages), pagesMost)
	}
	last := &rota.Type{Name: "last", Version: rota.NewID(), Spec: rota.TypeSpec{Schema: json.RawMessage(`{}`)}}
	if err := book.Check(last, nil); err != nil {
		t.Error(err)
	}
	if book.pages["last"].version != last.Version || book.page(last).compiled != book.pages["last"].compiled {
		t.Error("the newest is not kept")
	}
}
