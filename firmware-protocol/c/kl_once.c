#include "kl_once.h"

kl_standing kl_once_begin(kl_once *once, uint32_t request, kl_result *result)
{
    size_t place = request % KL_PLACES;
    if (once->request[place] < request) {
        once->request[place] = request;
        once->result[place] = KL_BEGUN;
        return KL_NEW;
    }
    if (once->request[place] > request) return KL_TOO_OLD;
    if (once->result[place] == KL_BEGUN) return KL_UNDER_WAY;
    *result = (kl_result)once->result[place];
    return KL_ANSWERED;
}

bool kl_once_answer(kl_once *once, uint32_t request, kl_result result)
{
    size_t place = request % KL_PLACES;
    if (once->request[place] != request || once->result[place] != KL_BEGUN) return false;
    once->result[place] = (uint8_t)result;
    return true;
}
