#include "kl_packet.h"

#include "kl_noise.h"

size_t kl_record_seal(kl_channel *channel, uint8_t *packet, kl_part clear)
{
    uint8_t nonce[KL_NONCE];
    packet[0] = KL_VERSION;
    packet[1] = KL_PACKET_RECORD;
    kl_put_be64(packet + 2, channel->send_counter);
    kl_nonce(nonce, channel->send_counter);
    kl_seal(packet + KL_RECORD_HEAD, channel->send_key, nonce, (kl_part){packet, KL_RECORD_HEAD}, clear);
    channel->send_counter += 1;
    return KL_RECORD_HEAD + clear.length + KL_TAG;
}

kl_opening kl_record_open(kl_channel *channel, uint8_t *clear, kl_part packet)
{
    uint8_t nonce[KL_NONCE];
    uint64_t counter = kl_get_be64(packet.bytes + 2);
    const kl_part sealed = {packet.bytes + KL_RECORD_HEAD, packet.length - KL_RECORD_HEAD};
    kl_nonce(nonce, counter);
    if (!kl_open(clear, channel->receive_key, nonce, (kl_part){packet.bytes, KL_RECORD_HEAD}, sealed)) return KL_NOT_AUTHENTIC;
    if (counter < channel->receive_counter) return KL_OLD;
    channel->receive_counter = counter + 1;
    return KL_OPENED;
}

int kl_packet_type(kl_part packet)
{
    if (packet.length < 2 || packet.length > KL_LONGEST_PACKET || packet.bytes[0] != KL_VERSION) return 0;
    size_t body = packet.length - 2;
    bool is_packet = false;
    switch (packet.bytes[1]) {
    case KL_PACKET_HELLO:
        is_packet = body == KL_NOISE_SHORTEST;
        break;
    case KL_PACKET_WELCOME:
        is_packet = body > KL_NOISE_SHORTEST;
        break;
    case KL_PACKET_RECORD:
        is_packet = packet.length >= KL_RECORD_HEAD + KL_TAG && kl_get_be64(packet.bytes + 2) <= KL_HIGHEST_NUMBER;
        break;
    case KL_PACKET_REFUSAL:
        is_packet = body == 1 && packet.bytes[2] <= KL_SAY_TOO_SOON;
        break;
    default:
        break;
    }
    return is_packet ? packet.bytes[1] : 0;
}
