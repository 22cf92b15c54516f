package claims

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientv1 "k8s.io/client-go/kubernetes/typed/authentication/v1"
)

// An Identity is a pod and its service account, as the API server vouches for them.
type Identity struct {
	Namespace, Name, UID, Account string
}

// A Review asks the API server whose token it is, for the audience of a Reviewer. An error means
// that there was no answer.
type Review func(ctx context.Context, token string) (*authenticationv1.TokenReviewStatus, error)

// Client returns the Review of a cluster, for an audience. The caller needs the right to create tokenreviews,
// and no other.
func Client(c clientv1.TokenReviewInterface, audience string) Review {
	return func(ctx context.Context, token string) (*authenticationv1.TokenReviewStatus, error) {
		r := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token, Audiences: []string{audience}}}
		r, err := c.Create(ctx, r, metav1.CreateOptions{})
		if err != nil {
			return nil, err
		}
		return &r.Status, nil
	}
}

// Keys in UserInfo.Extra with which the API server describes a bound token.
const (
	podName = "authentication.kubernetes.io/pod-name"
	podUID  = "authentication.kubernetes.io/pod-uid"
)

// identify returns the pod that an answer vouches for, if it vouches for the one that the
// token names, and for the audience.
func identify(s *authenticationv1.TokenReviewStatus, named, audience string) (Identity, error) {
	const account = "system:serviceaccount:"
	rest, isAccount := strings.CutPrefix(s.User.Username, account)
	namespace, name, whole := strings.Cut(rest, ":")
	id := Identity{Namespace: namespace, Name: one(s, podName), UID: one(s, podUID), Account: name}
	switch {
	case s.Error != "" || !s.Authenticated:
		return Identity{}, errors.New("the API server does not know it")
	case !slices.Contains(s.Audiences, audience): // an API server that does not know audiences leaves them out
		return Identity{}, fmt.Errorf("the API server knows it for %q, want %s", s.Audiences, audience)
	case !isAccount || !whole || namespace == "":
		return Identity{}, fmt.Errorf("it is of %q, want a service account", s.User.Username)
	case id.Name == "" || id.UID == "":
		return Identity{}, fmt.Errorf("it is of %q and bound to no pod", s.User.Username)
	case id.UID != named:
		return Identity{}, fmt.Errorf("it is of pod %s, want %s as it says", id.UID, named)
	}
	return id, nil
}

// one returns the only value of a key; "" if it has none, or several.
func one(s *authenticationv1.TokenReviewStatus, key string) string {
	if v := s.User.Extra[key]; len(v) == 1 {
		return v[0]
	}
	return ""
}
