package storekit

import "github.com/rotajobs/rota"

var (
	sqlVerifyPrincipals = Principals.Select("certificate") + byName
	sqlVerifyTokens     = AccessTokens.Select() + `
ORDER BY id`
)

func (in *Inspection) principals() error {
	width := len(Principals.read)
	return in.each(sqlVerifyPrincipals, func(r Row) {
		p, _ := Principals.Scan(r)
		checkWidths(in, Principals, r, "principal "+p.Name)
		in.Principal(p, r.Text(width), r.JSON(Principals.Col("spec")))
	})
}

func (in *Inspection) accessTokens() error {
	return in.each(sqlVerifyTokens, func(r Row) {
		t, _ := AccessTokens.Scan(r) // it has no document
		in.AccessToken(t)
	})
}

func (in *Inspection) accessState() error {
	var state *rota.AccessState
	err := in.each(AccessState.ByKey(), func(r Row) {
		state, _ = AccessState.Scan(r) // it has no document
		checkWidths(in, AccessState, r, "access state")
	})
	if err == nil {
		in.AccessState(state)
	}
	return err
}
