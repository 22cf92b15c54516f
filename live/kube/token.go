package kube

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// maxToken bounds a token in bytes; Kubernetes' have about 1,200.
const maxToken = 6 << 10

type tokenClaims struct {
	Audience audience `json:"aud"`
	Expiry   float64  `json:"exp"` // Unix seconds
	Bound    struct {
		Pod struct {
			UID string `json:"uid"`
		} `json:"pod"`
	} `json:"kubernetes.io"`
}

type audience []string

func (a *audience) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*a = audience{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(a))
}

// readToken does not check the signature. The API server would reject a token with an error here.
func readToken(token, want string, now time.Time) (pod string, ends time.Time, err error) {
	p, err := decodeToken(token)
	if err != nil {
		return "", time.Time{}, err
	}
	const most = 1 << 40 // seconds: larger times overflow
	switch {
	case !slices.Contains(p.Audience, want):
		return "", time.Time{}, fmt.Errorf("audience %q, want %s", p.Audience, want)
	case !(p.Expiry > 0 && p.Expiry < most):
		return "", time.Time{}, fmt.Errorf("expiry %v, want Unix seconds", p.Expiry)
	case p.Bound.Pod.UID == "":
		return "", time.Time{}, errors.New("no pod, want a token that is bound to one")
	}
	if ends = time.Unix(int64(p.Expiry), 0); !now.Before(ends) {
		return "", time.Time{}, fmt.Errorf("expired at %v", ends.UTC())
	}
	return p.Bound.Pod.UID, ends, nil
}

func decodeToken(token string) (*tokenClaims, error) {
	if len(token) > maxToken {
		return nil, fmt.Errorf("%d bytes, want at most %d", len(token), maxToken)
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 || parts[2] == "" {
		return nil, errors.New("no signed JSON web token")
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return nil, errors.New("its claims are not base64url")
	}
	var p tokenClaims
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, errors.New("its claims do not have the form used by Kubernetes")
	}
	return &p, nil
}
