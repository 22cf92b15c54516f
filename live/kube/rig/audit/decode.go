package audit

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

// Root is the prefix of the API server's keys.
const Root = "/registry/"

var codec = func() runtime.Decoder {
	s := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(s))
	utilruntime.Must(v1alpha1.AddToScheme(s))
	return serializer.NewCodecFactory(s).UniversalDeserializer()
}()

// ParseKey returns which object an etcd key is for. ok is false for internal keys of the API server.
func ParseKey(key string) (Key, bool) {
	parts := strings.Split(strings.TrimPrefix(key, Root), "/")
	if !strings.HasPrefix(key, Root) || len(parts) < 2 {
		return Key{}, false
	}
	resource, rest := parts[0], parts[1:]
	switch {
	case resource == "ranges", resource == "masterleases", resource == "peerserverips":
		return Key{}, false
	case resource == "minions":
		resource = nodes
	case resource == "services", strings.Contains(resource, ".") && len(rest) > 1:
		resource, rest = group(resource, rest)
	}
	k := Key{Resource: resource, Name: rest[len(rest)-1]}
	if len(rest) > 1 {
		k.Namespace = rest[len(rest)-2]
	}
	return k, true
}

func group(first string, rest []string) (resource string, left []string) {
	if first == "services" {
		if rest[0] == "endpoints" {
			return "endpoints", rest[1:]
		}
		return "services", rest[1:]
	}
	return rest[0] + "." + first, rest[1:]
}

// Decode decodes a value stored in etcd: protobuf, or JSON for custom resources.
func Decode(k Key, value []byte) (*Object, error) {
	v, _, err := codec.Decode(value, nil, nil)
	if runtime.IsNotRegisteredError(err) {
		u := &unstructured.Unstructured{}
		err = json.Unmarshal(value, &u.Object)
		v = u
	}
	if err != nil {
		return nil, fmt.Errorf("%s: decode: %w", k, err)
	}
	if p, is := v.(*v1alpha1.Plan); is {
		if err := p.Unpack(); err != nil {
			return nil, fmt.Errorf("%s: %w", k, err)
		}
	}
	m, err := meta.Accessor(v)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k, err)
	}
	return &Object{Key: k, Meta: m, Value: v}, nil
}

func stampOf(o *Object) time.Time {
	at := o.Meta.GetCreationTimestamp().Time
	for _, e := range o.Meta.GetManagedFields() {
		if e.Time != nil && e.Time.After(at) {
			at = e.Time.Time
		}
	}
	return at
}
