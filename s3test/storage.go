// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

// Package s3test tests the download of bundles from a real S3 server, behind
// links that the AWS SDK has presigned:
//
//	make test-s3
//
// It is a module of its own so that the SDK is no dependency of the provider.
package s3test

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// Options say where a Storage is. All are required.
type Options struct {
	// Endpoint is the URL of the S3 server. The links name it as their host.
	Endpoint        string
	Bucket          string
	AccessKeyID     string
	SecretAccessKey string
	// Now dates the links.
	Now func() time.Time
}

// Storage keeps bundles in a bucket of an S3 server. It is a simulator.Storage.
type Storage struct {
	client *s3.Client
	links  *s3.PresignClient
	bucket string
}

// New returns the storage in a bucket, which CreateBucket makes if need be.
func New(options Options) *Storage {
	client := s3.New(s3.Options{
		BaseEndpoint: aws.String(options.Endpoint),
		Credentials:  credentials.NewStaticCredentialsProvider(options.AccessKeyID, options.SecretAccessKey, ""),
		Region:       "us-east-1",
		UsePathStyle: true, // the bucket is no host name on loopback
	})
	links := s3.NewPresignClient(client, func(o *s3.PresignOptions) { o.Presigner = newPresigner(options.Now) })
	return &Storage{client, links, options.Bucket}
}

// CreateBucket makes the bucket.
func (s *Storage) CreateBucket(ctx context.Context) error {
	_, err := s.client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &s.bucket})
	return err
}

// Put stores an archive under a name, replacing what was there.
func (s *Storage) Put(ctx context.Context, name string, archive []byte) error {
	_, err := s.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &s.bucket, Key: &name, Body: bytes.NewReader(archive)})
	return err
}

// Link returns a presigned GET of an archive. It is good for lifetime, in whole
// seconds, from the whole second that Now says.
func (s *Storage) Link(ctx context.Context, name string, lifetime time.Duration) (string, error) {
	request, err := s.links.PresignGetObject(ctx, &s3.GetObjectInput{Bucket: &s.bucket, Key: &name}, s3.WithPresignExpires(lifetime))
	if err != nil {
		return "", err
	}
	return request.URL, nil
}

// presigner is the SDK's own, on another clock.
type presigner struct {
	signer *v4.Signer
	now    func() time.Time
}

func newPresigner(now func() time.Time) presigner {
	// S3 does not escape the path a second time, as other services do.
	return presigner{v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }), now}
}

// PresignHTTP signs a request as of the clock instead of the time it is given.
func (p presigner) PresignHTTP(
	ctx context.Context, key aws.Credentials, r *http.Request, payloadHash, service, region string, _ time.Time, options ...func(*v4.SignerOptions),
) (url string, signed http.Header, err error) {
	return p.signer.PresignHTTP(ctx, key, r, payloadHash, service, region, p.now(), options...)
}
