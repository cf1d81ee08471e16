package scrub

// harmless are the headers of a request that contain no secrets.
var harmless = map[string]bool{
	"Accept": true, "Accept-Charset": true, "Accept-Encoding": true, "Accept-Language": true,
	"Content-Language": true, "Content-Type": true, "Idempotency-Key": true, "User-Agent": true,
}

// Harmless reports whether a header, by its canonical name, contains no secret. Every
// other header may be a key, because no list of secret headers is complete.
func Harmless(header string) bool { return harmless[header] }
