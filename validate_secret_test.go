package rota_test

import (
	"strings"

	"github.com/rotajobs/rota"
)

func secretRefusals() map[rota.Verb][]refusal {
	return map[rota.Verb][]refusal{
		rota.VerbPutSecret: {
			breaks("no template", func(c *rota.PutSecret) { c.Template = "" }, "template", "is empty"),
			breaks("no key", func(c *rota.PutSecret) { c.Key = "" }, "key", "is empty"),
			breaks("a key with a slash", func(c *rota.PutSecret) { c.Key = "a/b" }, "key", "other than letters, digits and _"),
			breaks("a digit first", func(c *rota.PutSecret) { c.Key = "1A" }, "key", "begins with a digit"),
			breaks("a long key", func(c *rota.PutSecret) { c.Key = strings.Repeat("A", rota.SecretKeyMax+1) }, "key", "has 129 bytes"),
			breaks("a plain value", func(c *rota.PutSecret) { c.Sealed = "swordfish" }, "sealed", "is not a sealed value"),
			breaks("a fingerprint in capitals", func(c *rota.PutSecret) { c.Sealed = strings.ToUpper(c.Sealed[:26]) + c.Sealed[26:] }, "sealed", "is not a sealed value"),
			breaks("a short fingerprint", func(c *rota.PutSecret) { c.Sealed = "sealed:v1:0123:AAEC" }, "sealed", "16 lower-case hexadecimal digits"),
			breaks("padding", func(c *rota.PutSecret) { c.Sealed += "==" }, "sealed", "base64 for URLs without padding"),
			breaks("a line break", func(c *rota.PutSecret) { c.Sealed = c.Sealed[:30] + "\n" + c.Sealed[30:] }, "sealed", "base64 for URLs without padding"),
			breaks("no ciphertext", func(c *rota.PutSecret) { c.Sealed = c.Sealed[:27] }, "sealed", "base64 for URLs without padding"),
			breaks("a long ciphertext", func(c *rota.PutSecret) { c.Sealed += strings.Repeat("A", rota.SealedMax) }, "sealed", "at most 98304 are allowed"),
		},
		rota.VerbDeleteSecret: {
			breaks("no template", func(c *rota.DeleteSecret) { c.Template = "" }, "template", "is empty"),
			breaks("no key", func(c *rota.DeleteSecret) { c.Key = "" }, "key", "is empty"),
		},
		rota.VerbRewrapSecrets: {
			breaks("no items", func(c *rota.RewrapSecrets) { c.Items, c.Webhooks = nil, nil }, "items", "has 0 entries"),
			breaks("many items", func(c *rota.RewrapSecrets) { c.Items = make([]rota.RewrappedSecret, rota.RewrapMax) }, "items", "has 101 entries"),
			breaks("no version", func(c *rota.RewrapSecrets) { c.Items[0].Version = rota.ID{} }, "items[0].version", "is empty"),
			breaks("no key of the row", func(c *rota.RewrapSecrets) { c.Items[0].Was = "" }, "items[0].was", "16 lower-case hexadecimal digits"),
			breaks("a plain value", func(c *rota.RewrapSecrets) { c.Items[0].Sealed = "x" }, "items[0].sealed", "is not a sealed value"),
			breaks("a secret twice", func(c *rota.RewrapSecrets) { c.Items = append(c.Items, c.Items[0]) }, "items[1].key", "is there twice"),
			breaks("no address", func(c *rota.RewrapSecrets) { c.Webhooks[0].URL = "" }, "webhooks[0].url", "is not an address"),
			breaks("a plain value of a webhook", func(c *rota.RewrapSecrets) { c.Webhooks[0].Sealed = "x" }, "webhooks[0].sealed", "is not a sealed value"),
			breaks("a malformed earlier value", func(c *rota.RewrapSecrets) { c.Webhooks[0].Was = "sealed:v1:x" }, "webhooks[0].secret", "begins like a sealed value"),
		},
		rota.VerbPromoteSecretKey: {
			breaks("no key", func(c *rota.PromoteSecretKey) { c.From = "" }, "from", "16 lower-case hexadecimal digits"),
			breaks("no next key", func(c *rota.PromoteSecretKey) { c.To = "x" }, "to", "16 lower-case hexadecimal digits"),
			breaks("the same key", func(c *rota.PromoteSecretKey) { c.To = c.From }, "to", "is the key that is to be replaced"),
		},
	}
}
