package kube

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

// An identity is a pod and its service account, as verified by the API server.
type identity struct {
	Namespace, Name, UID, Account string
}

// A Review asks the API server whose token it is, by a TokenReview.
type Review func(ctx context.Context, token string) (*authenticationv1.TokenReviewStatus, error)

// TokenReviews returns a Review by the API server behind c, of tokens for audience.
func TokenReviews(c clientv1.TokenReviewInterface, audience string) Review {
	return func(ctx context.Context, token string) (*authenticationv1.TokenReviewStatus, error) {
		r := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token, Audiences: []string{audience}}}
		r, err := c.Create(ctx, r, metav1.CreateOptions{})
		if err != nil {
			return nil, err
		}
		return &r.Status, nil
	}
}

// Keys in UserInfo.Extra of a bound token.
const (
	podName = "authentication.kubernetes.io/pod-name"
	podUID  = "authentication.kubernetes.io/pod-uid"
)

func identify(s *authenticationv1.TokenReviewStatus, named, audience string) (identity, error) {
	const account = "system:serviceaccount:"
	rest, isAccount := strings.CutPrefix(s.User.Username, account)
	namespace, name, whole := strings.Cut(rest, ":")
	id := identity{Namespace: namespace, Name: extra(s, podName), UID: extra(s, podUID), Account: name}
	switch {
	case s.Error != "" || !s.Authenticated:
		return identity{}, errors.New("the API server does not accept it")
	case !slices.Contains(s.Audiences, audience): // missing if the API server does not support audiences
		return identity{}, fmt.Errorf("its verified audiences are %q, want %s", s.Audiences, audience)
	case !isAccount || !whole || namespace == "":
		return identity{}, fmt.Errorf("it belongs to %q, want a service account", s.User.Username)
	case id.Name == "" || id.UID == "":
		return identity{}, fmt.Errorf("it belongs to %q and is bound to no pod", s.User.Username)
	case id.UID != named:
		return identity{}, fmt.Errorf("it belongs to pod %s but names %s", id.UID, named)
	}
	return id, nil
}

func extra(s *authenticationv1.TokenReviewStatus, key string) string {
	if v := s.User.Extra[key]; len(v) == 1 {
		return v[0]
	}
	return ""
}
