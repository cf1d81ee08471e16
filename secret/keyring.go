// Package secret seals the secrets of templates.
//
// A Keyring is a tink AEAD keyset of AES-256-GCM keys. It stands in the file master.key of the data directory, or in the
// environment variable ROTA_MASTER_KEY. The first secret creates the file. Each ciphertext is bound to its template and
// key as associated data: copied to another row, it cannot be opened.
package secret

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	tinkpb "github.com/tink-crypto/tink-go/v2/proto/tink_go_proto"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/rotajobs/rota"
)

// Env names the variable with the keyset in base64, which is used in place of the file.
const Env = "ROTA_MASTER_KEY"

// FileName is the file of the keyset in the data directory. Processes that change it hold the lock of LockName.
const (
	FileName = "master.key"
	LockName = FileName + ".lock"
)

// Keyring seals and opens values. It reads its file again when it meets a key that it does not know.
type Keyring struct {
	Logger *slog.Logger // nil: none

	path string // empty: the keyset came from the environment

	mu   sync.Mutex
	keys *keys // nil: there is no file yet
}

// keys is a keyset that was read. It never changes.
type keys struct {
	text  []byte // as in the file
	set   *tinkpb.Keyset
	order []string // fingerprints, oldest key first
	byKey map[string]tink.AEAD
}

// Load returns the keyring of a data directory. env is the content of ROTA_MASTER_KEY; if it is not empty, the file is
// not used. A keyring without a file is empty.
func Load(dir, env string) (*Keyring, error) {
	if env != "" {
		text, err := base64.StdEncoding.DecodeString(strings.TrimSpace(env))
		if err != nil {
			return nil, &rota.Error{Code: rota.Invalid, Act: "master key", Reason: Env + " is not base64", Hint: "set it to the content of master.key in base64, or unset it"}
		}
		k, err := parse(text)
		if err != nil {
			return nil, &rota.Error{Code: rota.Invalid, Act: "master key", Reason: Env + " holds no keyset of Rota", Hint: "set it to the content of master.key in base64, or unset it"}
		}
		return &Keyring{keys: k}, nil
	}
	r := &Keyring{path: pathIn(dir)}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r, r.reload("")
}

// parse reads a keyset. Its errors contain nothing of the text.
func parse(text []byte) (*keys, error) {
	handle, err := insecurecleartextkeyset.Read(keyset.NewJSONReader(bytes.NewReader(text)))
	if err != nil {
		return nil, fmt.Errorf("it is not a keyset")
	}
	return newKeys(text, handle)
}

func newKeys(text []byte, handle *keyset.Handle) (*keys, error) {
	k := &keys{text: text, set: insecurecleartextkeyset.KeysetMaterial(handle), byKey: map[string]tink.AEAD{}}
	for _, key := range k.set.Key {
		if key.GetKeyData().GetTypeUrl() != aesGCM || key.GetOutputPrefixType() != tinkpb.OutputPrefixType_TINK {
			return nil, fmt.Errorf("it has a key that is not of AES-GCM")
		}
		single := &tinkpb.Keyset{PrimaryKeyId: key.KeyId, Key: []*tinkpb.Keyset_Key{key}}
		one, err := insecurecleartextkeyset.Read(&keyset.MemReaderWriter{Keyset: single})
		if err != nil {
			return nil, fmt.Errorf("it has a key that cannot be used")
		}
		primitive, err := aead.New(one)
		if err != nil {
			return nil, fmt.Errorf("it has a key that cannot be used")
		}
		fingerprint := fingerprintOf(key)
		k.order = append(k.order, fingerprint)
		k.byKey[fingerprint] = primitive
	}
	return k, nil
}

const aesGCM = "type.googleapis.com/google.crypto.tink.AesGcmKey"

// fingerprintOf names a key without telling anything about it: the key is only used as that of a MAC.
func fingerprintOf(key *tinkpb.Keyset_Key) string {
	mac := hmac.New(sha256.New, key.KeyData.Value)
	mac.Write([]byte("rota fingerprint"))
	sum := sha256.Sum256(binary.BigEndian.AppendUint32(mac.Sum(nil), key.KeyId))
	return hex.EncodeToString(sum[:])[:rota.FingerprintLen]
}

func (k *keys) primary() string {
	for i, key := range k.set.Key {
		if key.KeyId == k.set.PrimaryKeyId {
			return k.order[i]
		}
	}
	return ""
}

// Keys returns the fingerprints of all keys, oldest first, and that of the primary one; none without a keyset.
func (r *Keyring) Keys() (all []string, primary string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.keys == nil {
		return nil, ""
	}
	return slices.Clone(r.keys.order), r.keys.primary()
}

// Fingerprint returns the fingerprint of the whole set, "" if there is none.
func (r *Keyring) Fingerprint() string {
	all, _ := r.Keys()
	if len(all) == 0 {
		return ""
	}
	sum := sha256.Sum256([]byte(strings.Join(all, " ")))
	return hex.EncodeToString(sum[:])[:rota.FingerprintLen]
}

// Has reports whether the keyring has a key. It reads the file again for a key that it does not know.
func (r *Keyring) Has(fingerprint string) (bool, error) {
	one, err := r.find(fingerprint)
	return one != nil, err
}

func (r *Keyring) find(fingerprint string) (tink.AEAD, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.keys != nil && r.keys.byKey[fingerprint] != nil {
		return r.keys.byKey[fingerprint], nil
	}
	if err := r.reload(fingerprint); err != nil || r.keys == nil {
		return nil, err
	}
	return r.keys.byKey[fingerprint], nil
}

// Primary returns the key that is to seal a value: that of the store, or if the store has none, that of the keyring, which is
// created if there is none. The file has the key.
func (r *Keyring) Primary(ofStore string) (string, error) {
	if ofStore != "" {
		_, err := r.sealer(ofStore)
		return ofStore, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.keys == nil {
		if err := r.create(); err != nil {
			return "", err
		}
	}
	p := r.keys.primary()
	return p, r.checkFile(p)
}

// sealer returns what seals with a key. Values may only be sealed with a key that the file has.
func (r *Keyring) sealer(fingerprint string) (tink.AEAD, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.checkFile(fingerprint); err != nil {
		return nil, err
	}
	if r.keys != nil && r.keys.byKey[fingerprint] != nil {
		return r.keys.byKey[fingerprint], nil
	}
	return nil, unknown(r.keys, fingerprint)
}

// Seal encrypts a value by the key of a fingerprint and returns its text.
func (r *Keyring) Seal(fingerprint, template, key string, value []byte) (string, error) {
	return r.seal(fingerprint, value, associated("rota secret", template, key))
}

func (r *Keyring) seal(fingerprint string, value, associated []byte) (string, error) {
	if len(value) == 0 || len(value) > rota.SecretMax {
		return "", rota.Invalidf("value", "has %d bytes; allowed are 1 to %d", len(value), rota.SecretMax)
	}
	one, err := r.sealer(fingerprint)
	if err != nil {
		return "", err
	}
	ciphertext, err := one.Encrypt(value, associated)
	if err != nil {
		return "", &rota.Error{Code: rota.Internal, Act: "seal", Reason: "the value could not be encrypted"}
	}
	return rota.FormatSealed(fingerprint, ciphertext), nil
}

// Open decrypts a value. Errors contain neither the value nor the ciphertext.
func (r *Keyring) Open(template, key, sealed string) ([]byte, error) {
	value, err := r.open(sealed, associated("rota secret", template, key))
	return value, describe(err, "secret "+template+"/"+key, "set it again: rota secret set "+template+"/"+key)
}

// errMoved is the error about a ciphertext that was sealed for another place.
var errMoved = &rota.Error{Code: rota.Invalid, Act: "open", Reason: "it was sealed for something else, or was changed"}

// describe names what cannot be opened.
func describe(err error, what, hint string) error {
	if err != errMoved {
		return err
	}
	return &rota.Error{Code: rota.Invalid, Act: "open", Reason: what + " cannot be opened: " + errMoved.Reason, Hint: hint}
}

func (r *Keyring) open(sealed string, associated []byte) ([]byte, error) {
	fingerprint, ciphertext, err := rota.ParseSealed(sealed)
	if err != nil {
		return nil, err
	}
	one, err := r.find(fingerprint)
	if err != nil {
		return nil, err
	}
	if one == nil {
		return nil, r.unknown(fingerprint)
	}
	value, err := one.Decrypt(ciphertext, associated)
	if err != nil {
		return nil, errMoved
	}
	return value, nil
}

// associated binds a ciphertext to a kind of values and to two names, such as template and key. The lengths keep a/bc and
// ab/c apart.
func associated(kind, one, two string) []byte {
	b := binary.BigEndian.AppendUint32([]byte(kind), uint32(len(one)))
	b = append(b, one...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(two)))
	return append(b, two...)
}

func (r *Keyring) unknown(fingerprints ...string) *rota.Error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return unknown(r.keys, fingerprints...)
}

// unknown is the error about keys that this process does not have. The caller may retry.
func unknown(k *keys, fingerprints ...string) *rota.Error {
	needed, own := "the key ", "no keys"
	if len(fingerprints) > 1 {
		needed = "the keys "
	}
	if k != nil {
		own = "the keys " + strings.Join(k.order, ", ")
	}
	return &rota.Error{
		Code: rota.Unavailable, Act: "master key",
		Reason: "the secrets of this store need " + needed + strings.Join(fingerprints, ", ") + ", and this node has " + own,
		Hint:   "copy master.key of a node that has it into the data directory of this node (mode 0600), or set " + Env,
	}
}

// Missing returns those of the fingerprints that the keyring does not have.
func (r *Keyring) Missing(needed []string) (missing []string, err error) {
	for _, fingerprint := range needed {
		known, err := r.Has(fingerprint)
		if err != nil {
			return nil, err
		}
		if !known && !slices.Contains(missing, fingerprint) {
			missing = append(missing, fingerprint)
		}
	}
	return missing, nil
}

// CheckNeeded returns an error unless the keyring has the keys that a store needs.
func (r *Keyring) CheckNeeded(needed []string) error {
	missing, err := r.Missing(needed)
	if err == nil && len(missing) > 0 {
		return r.unknown(missing...)
	}
	return err
}
