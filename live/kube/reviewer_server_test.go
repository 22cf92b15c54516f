package kube

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/oxgang/oxgang/model/job"
)

// agents is the audience of good tokens.
const agents = "oxgang-agents"

// written returns a token with these claims and a signature that nothing here checks.
func written(claims string) string {
	return "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2ln"
}

// ticket returns the token of a pod that ends in d; n tells tokens of one pod apart.
func ticket(pod string, d time.Duration, n int) string {
	return written(fmt.Sprintf(`{"aud":["oxgang-agents"],"exp":%d,"jti":"%d","kubernetes.io":{"namespace":"ns","pod":{"name":"%s-0","uid":"%[3]s"}}}`,
		time.Now().Add(d).Unix(), n, pod))
}

// vouched is what an API server says of a good token.
func vouched(pod string) *authenticationv1.TokenReviewStatus {
	return &authenticationv1.TokenReviewStatus{
		Authenticated: true,
		Audiences:     []string{agents},
		User: authenticationv1.UserInfo{
			Username: "system:serviceaccount:ns:default",
			Extra:    map[string]authenticationv1.ExtraValue{podName: {pod + "-0"}, podUID: {pod}},
		},
	}
}

// A server is an API server that vouches for the pod that each token names.
type server struct {
	asked atomic.Int64
	away  atomic.Bool
	edit  func(*authenticationv1.TokenReviewStatus) // changes what it says; nil: not
}

func (s *server) review(_ context.Context, token string) (*authenticationv1.TokenReviewStatus, error) {
	s.asked.Add(1)
	if s.away.Load() {
		return nil, errors.New("connection refused")
	}
	p, err := decodeToken(token)
	if err != nil {
		return nil, err
	}
	status := vouched(p.Bound.Pod.UID)
	if s.edit != nil {
		s.edit(status)
	}
	return status, nil
}

// living is a Lookup of pods by their jobs.
type living map[string]job.ID

func (l living) lookup(pod string) (Member, bool) {
	id, ok := l[pod]
	return Member{Job: id, Namespace: "ns", Name: pod + "-0", Account: "default"}, ok
}
