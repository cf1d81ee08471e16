package scrub

// harmless are the headers of a request that anybody may see.
var harmless = map[string]bool{
	"Accept": true, "Accept-Charset": true, "Accept-Encoding": true, "Accept-Language": true,
	"Content-Language": true, "Content-Type": true, "Idempotency-Key": true, "User-Agent": true,
}

// Harmless reports whether anybody may see a header, by its canonical name.
// Whatever else somebody put into a request may be a key: nobody can know them all
// by name.
func Harmless(header string) bool { return harmless[header] }
